//! A law that cannot fail says nothing. Each of these mistakes looks right, and a law finds it.

use crate::{Attention, Block, D_MODEL, Gated, LARGER, SEQ_LEN, TILE, config};
use constformer::{
    laws::{self, Law, model},
    machine::Machine,
    *,
};
use proptest::{prelude::*, test_runner::TestRunner};
use typenum::{U1, U5};

/// The law does not hold for some of the inputs.
fn assert_caught<S: Strategy>(inputs: S, law: impl Fn(S::Value) -> Law) {
    let deterministic = TestRunner::deterministic().new_rng();
    let outcome = TestRunner::new_with_rng(config(), deterministic).run(&inputs, law);
    assert!(outcome.is_err(), "the mistake was not found");
}

fn tokens() -> impl Strategy<Value = Vec<[f32; D_MODEL]>> {
    laws::tokens(3..=SEQ_LEN)
}

model! {
    /// Divides by the unbiased variance, that of D - 1.
    struct Unbiased {
        weight: [f32; 1],
    }
}

impl Norm<D_MODEL> for Unbiased {
    fn forward(&self, tokens: &mut [[f32; D_MODEL]]) {
        LayerNorm::<D_MODEL>::ONE.forward(tokens);
        let factor = ((D_MODEL - 1) as f32 / D_MODEL as f32).sqrt();
        tokens.as_flattened_mut().iter_mut().for_each(|x| *x *= factor);
    }
}

#[test]
fn a_norm_without_centring() {
    let epsilon = RmsNorm::<D_MODEL, U5>::EPSILON;
    assert_caught(tokens(), |x| laws::layer_norm::moments(&RmsNorm::<D_MODEL, U5>::ONE, epsilon, &x));
    assert_caught(tokens(), |x| laws::layer_norm::shift(&RmsNorm::<D_MODEL, U5>::ONE, epsilon, 0.5, &x));
}

#[test]
fn a_norm_by_the_unbiased_variance() {
    let epsilon = LayerNorm::<D_MODEL>::EPSILON;
    assert_caught(tokens(), |x| laws::layer_norm::moments(&Unbiased::ZERO, epsilon, &x));
    // A factor does not make it less idempotent; gains do.
    assert_caught(tokens(), |x| laws::layer_norm::idempotence(&*model::<LayerNorm<D_MODEL>>(1), epsilon, &x));
}

#[test]
fn another_epsilon() {
    let epsilon = LayerNorm::<D_MODEL>::EPSILON;
    assert_caught(tokens(), |x| laws::layer_norm::moments(&LayerNorm::<D_MODEL, U1>::ONE, epsilon, &x));
    assert_caught(tokens(), |x| laws::layer_norm::scale(&LayerNorm::<D_MODEL, U1>::ONE, epsilon, 2.0, &x));
    assert_caught(tokens(), |x| laws::rms_norm::mean_square(&RmsNorm::<D_MODEL, U1>::ONE, epsilon, &x));
    assert_caught(tokens(), |x| laws::rms_norm::scale(&RmsNorm::<D_MODEL, U1>::ONE, epsilon, 2.0, &x));
}

#[test]
fn no_norm() {
    let epsilon = LayerNorm::<D_MODEL>::EPSILON;
    assert_caught(laws::extreme_tokens::<D_MODEL>(1..=9), |x| laws::norm::bounded(&NoNorm, &x));
    assert_caught(tokens(), |x| laws::rms_norm::scale(&NoNorm, epsilon, 2.0, &x));
}

#[test]
fn a_bias_forgotten() {
    let norm = model::<LayerNorm<D_MODEL>>(1);
    let plain = LayerNorm::<D_MODEL>::ONE;
    assert_caught(tokens(), |x| laws::norm::affine(&*norm, &plain, &norm.weight, &[0.0; D_MODEL], &x));
    assert_caught(tokens(), |x| laws::norm::odd(&*norm, &x));
}

/// As in a textbook: exp(x) / sum, no maximum taken off.
fn naive_softmax(x: &mut [f32]) {
    let sum: f32 = x.iter().map(|x| math::exp(*x)).sum();
    for x in x {
        *x = math::exp(*x) / sum;
    }
}

#[test]
fn a_naive_softmax() {
    let all = [f32::NEG_INFINITY; 3];
    assert!(laws::softmax::distribution(naive_softmax, &all).is_err()); // 0/0
    assert_caught(laws::extreme_scores(1..=9), |x| laws::softmax::distribution(naive_softmax, &x));
    assert_caught((laws::scores(1..=9), 80.0_f32..90.0), |(x, c)| laws::softmax::shift(naive_softmax, &x, c));
}

#[test]
fn a_softmax_of_the_absolute() {
    let softmax = |x: &mut [f32]| {
        x.iter_mut().filter(|x| x.is_finite()).for_each(|x| *x = x.abs());
        math::softmax(x);
    };
    assert_caught(laws::scores(2..=9), |x| laws::softmax::monotone(softmax, &x));
}

#[test]
fn a_mask_that_is_only_large() {
    let softmax = |x: &mut [f32]| {
        x.iter_mut().filter(|x| x.is_infinite()).for_each(|x| *x = -80.0);
        math::softmax(x);
    };
    assert_caught(laws::extreme_scores(2..=9), |x| laws::softmax::masked(softmax, &x));
}

/// x min(max(0, x + 2), 6) / 6: a cheap SiLU, but for the 3 that should be there for 2.
#[derive(Clone, Copy)]
struct Shifted;

/// max(0, x)², which is no gate; and its maximum takes NaN for 0.
#[derive(Clone, Copy)]
struct Squared;

impl Activation for Shifted {
    const NAME: &str = "shifted";

    fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector {
        let ramp = m.min(m.max(m.add(x, m.splat(2.0)), m.splat(0.0)), m.splat(6.0));
        m.div(m.mul(x, ramp), m.splat(6.0))
    }
}

impl Activation for Squared {
    const NAME: &str = "squared";

    fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector {
        let x = m.max(x, m.splat(0.0));
        m.mul(x, x)
    }
}

#[test]
fn activations() {
    assert_caught(-9.0_f32..9.0, laws::activation::reflection::<Shifted>);
    assert_caught(-9.0_f32..9.0, laws::activation::reflection::<Identity>);
    assert_caught(-9.0_f32..9.0, |x| laws::activation::limits::<Identity>(x, -x));
    assert!(laws::activation::gate::<Squared>(3.0).is_err());
    assert!(laws::activation::gate::<Squared>(0.5).is_err()); // for NaN
}

#[test]
fn masks_exchanged() {
    let (causal, bidirectional) = (model::<Block<Gpt2>>(1), model::<Block<Bert>>(1));
    assert_caught(tokens(), |x| laws::attention::permutation::<D_MODEL, SEQ_LEN, TILE>(&*causal, &x));
    assert_caught(tokens(), |x| laws::attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*bidirectional, &x));
    assert_caught(tokens(), |x| laws::attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*model::<Block<Gated, 3>>(1), &x));
}

#[test]
fn placements_exchanged() {
    assert_caught(tokens(), |x| {
        laws::residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *model::<Block<Bert>>(1), &x)
    });
    assert_caught(tokens(), |x| {
        laws::residual::only_norms::<Bert, D_MODEL, SEQ_LEN, TILE>(&mut *model::<Block<Gated, 3>>(1), 2, &x)
    });
    assert_caught(tokens(), |x| {
        laws::residual::normalised::<Vit, D_MODEL, SEQ_LEN, TILE>(&mut *model::<Block<Vit>>(1), &x)
    });
}

#[test]
fn branches_by_other_names() {
    let law = laws::residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *model::<OverTile>(1), &[]);
    assert!(law.expect_err("it has no branches").to_string().contains("`attention.output`"));
}

#[test]
fn more_tokens_than_there_is_room_for() {
    let block = model::<Block<Bert>>(1);
    assert!(laws::sequence::padding::<D_MODEL, 2, TILE>(&*block, &[[0.0; D_MODEL]; 3]).is_err());
    let attention = model::<Attention<Bert>>(1);
    assert!(laws::attention::one_token::<_, D_MODEL, _, 0, TILE>(&*attention, &[0.0; D_MODEL]).is_err());
}

/// Layers that mix in what they should not see.
macro_rules! wrong_layers {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $scratch:ident| $forward:block)*) => { $(
        model! {
            $(#[$doc])*
            struct $name {
                weight: [f32; 1],
            }
        }

        impl Model for $name {
            type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<D_MODEL, SEQ_LEN, [f32; TILE]>;
            const MACS: Macs = Macs::per_token(0);
        }

        impl Layer<D_MODEL> for $name {
            type Stream = f32;
            type Scratch<const SEQ_LEN: usize, const TILE: usize> = [f32; TILE];

            fn forward<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                $x: &mut Sequence<D_MODEL, SEQ_LEN>,
                $scratch: &mut [f32; TILE],
            ) $forward
        }
    )* };
}

wrong_layers! {
    /// Takes off the mean over the capacity instead of the tokens.
    OverCapacity |x, _scratch| {
        let sum: f32 = x.tokens().as_flattened().iter().sum();
        x.tokens_mut().as_flattened_mut().iter_mut().for_each(|x| *x -= sum / SEQ_LEN as f32);
    }

    /// Takes off the mean of the tile.
    OverTile |x, _scratch| {
        for tile in x.tokens_mut().chunks_mut(TILE) {
            let sum: f32 = tile.as_flattened().iter().sum();
            tile.as_flattened_mut().iter_mut().for_each(|x| *x -= sum / TILE as f32);
        }
    }

    /// Adds what the last call left in the scratch.
    OverCalls |x, scratch| {
        for token in x.tokens_mut() {
            token[0] += scratch[0];
            scratch[0] = token[1];
        }
    }

    /// Sees what lies beyond the tokens, by making them tokens.
    OverLength |x, _scratch| {
        let _ = x.resize(SEQ_LEN);
    }
}

#[test]
fn layers_that_see_too_much() {
    use laws::sequence::{batch, capacity, padding, repetition, tiles};

    assert_caught(tokens(), |x| capacity::<D_MODEL, SEQ_LEN, LARGER, TILE>(&OverCapacity::ZERO, &x));
    assert_caught(tokens(), |x| tiles::<D_MODEL, SEQ_LEN, TILE, 5>(&OverTile::ZERO, &x));
    assert_caught(tokens(), |x| padding::<D_MODEL, SEQ_LEN, TILE>(&OverCalls::ZERO, &x));
    assert_caught(tokens(), |x| repetition::<D_MODEL, SEQ_LEN, TILE>(&OverCalls::ZERO, &x));
    assert_caught(tokens(), |x| batch::<D_MODEL, SEQ_LEN, TILE>(&OverCalls::ZERO, &[x.clone(), x]));
    assert_caught(tokens(), |x| padding::<D_MODEL, SEQ_LEN, TILE>(&OverLength::ZERO, &x));
}
