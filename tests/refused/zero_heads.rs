//! No heads, no attention.

use constformer::{Bert, EncoderBlock};

type Block = EncoderBlock<Bert, 384, 1536, 0>;

fn parameters(_model: &Block) {}

fn main() {
    let _ = parameters;
}
