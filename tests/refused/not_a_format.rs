//! There are no weights of 64 bits.

use constformer::{Bert, EncoderBlock};

type Block = EncoderBlock<Bert, 384, 1536, 12, f64>;

fn parameters(_model: &Block) {}

fn main() {
    let _ = parameters;
}
