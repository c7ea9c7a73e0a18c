//! An activation without a derivative.

use constformer::{Activation, Custom, Encoder, PreLn, machine::Machine, training::TrainableLayer};

#[derive(Clone, Copy)]
struct SquaredRelu;

impl Activation for SquaredRelu {
    const NAME: &str = "squared relu";

    fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector {
        let x = m.max(m.splat(0.0), x);
        m.mul(x, x)
    }
}

fn train<L: TrainableLayer<16>>() {}

fn main() {
    train::<Encoder<Custom<PreLn, SquaredRelu>, 2, 16, 64, 4>>();
}
