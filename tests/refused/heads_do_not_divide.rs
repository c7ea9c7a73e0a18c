//! 512 features cannot be shared among 7 heads: the type is wrong, wherever it is used.

use constformer::{Encoder, Vaswani};

type Model = Encoder<Vaswani, 6, 512, 2048, 7>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
