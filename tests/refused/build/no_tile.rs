//! Work is done a tile at a time, and a tile of no tokens would never end.

use constformer::{Bert, EncoderBlock, Layer, Scratch, Sequence, Zero};

static BLOCK: EncoderBlock<Bert, 32, 128, 4> = Zero::ZERO;

fn main() {
    let mut x = Sequence::<32, 16>::new();
    let mut scratch = Scratch::<32, 128, 16, 0>::ZERO;
    BLOCK.forward(&mut x, &mut scratch);
}
