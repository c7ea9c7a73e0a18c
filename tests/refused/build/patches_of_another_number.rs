//! An image of 28 x 28 pixels in patches of 7 x 7 has 16 patches.

use constformer::patches;

fn main() {
    let _patches = patches::<28, 28, 7, 49, 15>(&[[0.0; 28]; 28]);
}
