//! Scratch for a feed-forward layer of 64 features, a block of 128.

use constformer::{Bert, EncoderBlock, Layer, Scratch, Sequence, Zero};

static BLOCK: EncoderBlock<Bert, 32, 128, 4> = Zero::ZERO;

fn main() {
    let mut x = Sequence::<32, 16>::new();
    let mut scratch = Scratch::<32, 64, 16>::ZERO;
    BLOCK.forward(&mut x, &mut scratch);
}
