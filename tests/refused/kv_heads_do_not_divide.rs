//! 3 heads of key and value cannot serve 8 heads of the query.

use constformer::{Decoder, Llama};

type Model = Decoder<Llama, 5, 64, 172, 8, f32, 3, 24>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
