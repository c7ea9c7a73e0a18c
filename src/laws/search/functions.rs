//! Activations and softmax.

use super::counterexample::{Found, find};
use crate::{
    Activation,
    laws::{activation as of_activation, extreme_scores, scores, softmax as of_softmax, strategies::Named},
};
use proptest::{collection::vec, prop_oneof, strategy::Strategy};
use std::vec::Vec;

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![-8.0_f32..8.0, -100.0_f32..100.0, -1e-3_f32..1e-3]
}

fn named(name: &'static str) -> impl Strategy<Value = Named<f32>> {
    number().prop_map(move |x| Named(name, x))
}

/// As [`check::activation`](crate::laws::check::activation).
#[must_use]
pub fn activation<A: Activation>() -> Found {
    let lanes = vec(number(), 4..=4).prop_map(|x| Named("x", x));
    find::<A, _>("activation::lanes", lanes, |Named(_, x)| {
        of_activation::lanes::<A>(x.first_chunk().copied().unwrap_or_default())
    })
}

/// As [`check::gate`](crate::laws::check::gate).
#[must_use]
pub fn gate<A: Activation>() -> Found {
    activation::<A>()
        .or_else(|| find::<A, _>("activation::gate", (named("x"),), |(Named(_, x),)| of_activation::gate::<A>(x)))
        .or_else(|| {
            find::<A, _>("activation::reflection", (named("x"),), |(Named(_, x),)| of_activation::reflection::<A>(x))
        })
        .or_else(|| {
            find::<A, _>("activation::limits", (named("a"), named("b")), |(Named(_, a), Named(_, b))| {
                of_activation::limits::<A>(a, b)
            })
        })
}

/// As [`check::softmax`](crate::laws::check::softmax).
#[must_use]
pub fn softmax<S: Fn(&mut [f32])>(softmax: S) -> Found {
    let some = || scores(0..=37).prop_map(scores_named);
    let any = || prop_oneof![some(), extreme_scores(0..=19).prop_map(scores_named)];
    let softmax = &softmax;
    find::<S, _>("softmax::distribution", any(), |Named(_, x)| of_softmax::distribution(softmax, &x))
        .or_else(|| find::<S, _>("softmax::monotone", any(), |Named(_, x)| of_softmax::monotone(softmax, &x)))
        .or_else(|| find::<S, _>("softmax::masked", any(), |Named(_, x)| of_softmax::masked(softmax, &x)))
        .or_else(|| {
            let shift = (-100.0_f32..100.0).prop_map(|c| Named("c", c));
            find::<S, _>("softmax::shift", (some(), shift), |(Named(_, x), Named(_, c))| {
                of_softmax::shift(softmax, &x, c)
            })
        })
}

fn scores_named(scores: Vec<f32>) -> Named<Vec<f32>> {
    Named("x", scores)
}
