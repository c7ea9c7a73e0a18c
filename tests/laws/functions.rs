//! Softmax and the activations.

use crate::config;
use constformer::{laws, math, *};
use proptest::prelude::*;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn softmax(scores in laws::scores(1..=37), shift in -100.0_f32..100.0) {
        laws::softmax::distribution(math::softmax, &scores)?;
        laws::softmax::shift(math::softmax, &scores, shift)?;
        laws::softmax::monotone(math::softmax, &scores)?;
        laws::softmax::masked(math::softmax, &scores)?;
    }

    #[test]
    fn softmax_of_extremes(scores in laws::extreme_scores(0..=19)) {
        laws::softmax::distribution(math::softmax, &scores)?;
        laws::softmax::monotone(math::softmax, &scores)?;
        laws::softmax::masked(math::softmax, &scores)?;
    }

    #[test]
    fn softmax_of_masked_rows(len in 1_usize..40) {
        laws::softmax::distribution(math::softmax, &vec![f32::NEG_INFINITY; len])?;
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn activations(x in any_number(), other in any_number(), lanes in [any_number(), any_number(), any_number(), any_number()]) {
        every_law::<Relu>(x, other, lanes)?;
        every_law::<Gelu>(x, other, lanes)?;
        every_law::<GeluTanh>(x, other, lanes)?;
        every_law::<Silu>(x, other, lanes)?;
        laws::activation::lanes::<Identity>(lanes)?;
    }
}

fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![-8.0_f32..8.0, -100.0_f32..100.0, -1e-3_f32..1e-3]
}

fn every_law<A: Activation>(x: f32, other: f32, lanes: [f32; 4]) -> laws::Law {
    laws::activation::gate::<A>(x)?;
    laws::activation::reflection::<A>(x)?;
    laws::activation::limits::<A>(x, other)?;
    laws::activation::lanes::<A>(lanes)
}
