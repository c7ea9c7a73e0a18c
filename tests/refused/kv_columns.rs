//! 4 heads of key and value of 64 / 8 columns each are 32 columns and not 64.

use constformer::{Decoder, Llama};

type Model = Decoder<Llama, 5, 64, 172, 8, f32, 4, 64>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
