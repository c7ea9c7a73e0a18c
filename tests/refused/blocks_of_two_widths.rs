//! A stack is an array, and the blocks of an array are of one width.

use constformer::{EncoderBlock, Vit, Zero};

fn main() {
    let _stack = [EncoderBlock::<Vit, 32, 128, 4>::ZERO, EncoderBlock::<Vit, 64, 128, 4>::ZERO];
}
