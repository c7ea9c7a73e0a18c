//! Heads are known up to 1024 as well.

use constformer::{Bert, EncoderBlock};

type Block = EncoderBlock<Bert, 4096, 4096, 2049>;

fn parameters(_model: &Block) {}

fn main() {
    let _ = parameters;
}
