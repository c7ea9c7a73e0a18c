//! Heads are known up to 2048, then multiples of 16.

use constformer::{Bert, EncoderBlock};

type Block = EncoderBlock<Bert, 4096, 4096, 2049>;

fn parameters(_model: &Block) {}

fn main() {
    let _ = parameters;
}
