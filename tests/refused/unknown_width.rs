//! Above 2048 the shape checker knows multiples of 16.

use constformer::{Bert, EncoderBlock};

type Block = EncoderBlock<Bert, 2050, 4096, 5>;

fn parameters(_model: &Block) {}

fn main() {
    let _ = parameters;
}
