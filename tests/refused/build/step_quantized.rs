//! Neither does an optimizer change integers.

use constformer::{Int8, Linear, Zero, training::Sgd};

fn main() {
    let mut model = Linear::<16, 8, Int8>::ZERO;
    Sgd::default().plain_step(&mut model, &Linear::<16, 8>::ZERO, 0.1);
}
