//! Tokens of 256 features into a block of 384.

use constformer::{Bert, EncoderBlock, Layer, Scratch, Sequence, Zero};

static BLOCK: EncoderBlock<Bert, 384, 1536, 12> = Zero::ZERO;

fn main() {
    let mut x = Sequence::<256, 16>::new();
    let mut scratch = Scratch::<384, 1536, 16>::ZERO;
    BLOCK.forward(&mut x, &mut scratch);
}
