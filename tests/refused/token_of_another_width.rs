//! A token of 256 features into a sequence of 384.

use constformer::Sequence;

fn main() {
    let mut x = Sequence::<384, 16>::new();
    let _ = x.push(&[0.0; 256]);
}
