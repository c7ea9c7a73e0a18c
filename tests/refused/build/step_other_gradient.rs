//! A gradient of another model.

use constformer::{Linear, Zero, training::Sgd};

fn main() {
    let mut model = Linear::<16, 8>::ZERO;
    Sgd::default().plain_step(&mut model, &Linear::<8, 16>::ZERO, 0.1);
}
