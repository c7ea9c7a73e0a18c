//! A decoder of a family whose tokens see those after them.

use constformer::{Bert, Decoder};

type Model = Decoder<Bert, 2, 32, 64, 4>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
