//! A family is a type such as `Bert`, and not a layer.

use constformer::{Encoder, Gelu};

type Model = Encoder<Gelu, 6, 384, 1536, 12>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
