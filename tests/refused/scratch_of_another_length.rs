//! Scratch for 8 tokens, a sequence of up to 16.

use constformer::{Bert, EncoderBlock, Layer, Scratch, Sequence, Zero};

static BLOCK: EncoderBlock<Bert, 32, 128, 4> = Zero::ZERO;

fn main() {
    let mut x = Sequence::<32, 16>::new();
    let mut scratch = Scratch::<32, 128, 8>::ZERO;
    BLOCK.forward(&mut x, &mut scratch);
}
