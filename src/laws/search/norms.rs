//! Norms.

use super::counterexample::{Found, find};
use crate::{
    Norm, Parameters,
    laws::strategies::{Named, plain},
    laws::{extreme_tokens, layer_norm as of_layer_norm, models, norm as of_norm, rms_norm as of_rms_norm, tokens},
};
use proptest::{prop_oneof, strategy::Strategy};
use std::vec::Vec;

/// Tokens that a norm is given at most: it sees them one by one.
const FEW: usize = 3;

fn some<const D_MODEL: usize>() -> impl Strategy<Value = Vec<[f32; D_MODEL]>> {
    prop_oneof![tokens::<D_MODEL>(0..=FEW), extreme_tokens(0..=FEW)]
}

/// 10⁻² to 10².
fn factor() -> impl Strategy<Value = Named<f32>> {
    (-2.0_f32..2.0).prop_map(|exponent| Named("s", 10.0_f32.powf(exponent)))
}

/// The norm itself, whose gains are 1 and whose biases are 0.
fn made_plain<N: Parameters>() -> impl Strategy<Value = crate::laws::Random<N>> {
    models::<N>().prop_map(|mut norm| {
        plain(&mut *norm, |_| true);
        norm
    })
}

/// As [`check::norm`](crate::laws::check::norm).
#[must_use]
pub fn norm<N: Norm<D_MODEL>, const D_MODEL: usize>() -> Found {
    match N::RMS_AND_EPSILON {
        Some((false, epsilon)) => layer_norm::<N, D_MODEL>(epsilon),
        Some((true, epsilon)) => rms_norm::<N, D_MODEL>(epsilon),
        None => alone::<N, D_MODEL>(),
    }
}

fn alone<N: Norm<D_MODEL>, const D_MODEL: usize>() -> Found {
    find::<N, _>("norm::every_token_alone", (some(), models::<N>()), |(x, norm)| of_norm::every_token_alone(&*norm, &x))
}

/// What LayerNorm and RMSNorm have in common.
fn common<N: Norm<D_MODEL>, const D_MODEL: usize>() -> Found {
    alone::<N, D_MODEL>()
        .or_else(|| {
            find::<N, _>("norm::bounded", (some(), made_plain::<N>()), |(x, norm)| of_norm::bounded(&*norm, &x))
        })
        .or_else(|| find::<N, _>("norm::odd", (some(), made_plain::<N>()), |(x, norm)| of_norm::odd(&*norm, &x)))
        .or_else(|| {
            find::<N, _>("norm::affine", (some(), models::<N>()), |(x, norm)| {
                let [mut gain, mut bias] = [[1.0; D_MODEL], [0.0; D_MODEL]];
                norm.for_each_tensor(|name, tensor| {
                    let to =
                        if name.last().is_some_and(|name| name.ends_with("weight")) { &mut gain } else { &mut bias };
                    to.iter_mut().zip(tensor.row_major()).for_each(|(to, from)| *to = from);
                });
                of_norm::affine(&*norm, &*of_norm::plain_norm::<N>(), &gain, &bias, &x)
            })
        })
}

/// As [`check::layer_norm`](crate::laws::check::layer_norm).
#[must_use]
pub fn layer_norm<N: Norm<D_MODEL>, const D_MODEL: usize>(epsilon: f32) -> Found {
    common::<N, D_MODEL>()
        .or_else(|| {
            find::<N, _>("layer_norm::moments", (some(), made_plain::<N>()), |(x, norm)| {
                of_layer_norm::moments(&*norm, epsilon, &x)
            })
        })
        .or_else(|| {
            let shift = (-100.0_f32..100.0).prop_map(|c| Named("c", c));
            find::<N, _>("layer_norm::shift", (some(), shift, models::<N>()), |(x, Named(_, c), norm)| {
                of_layer_norm::shift(&*norm, epsilon, c, &x)
            })
        })
        .or_else(|| {
            find::<N, _>("layer_norm::scale", (some(), factor(), models::<N>()), |(x, Named(_, s), norm)| {
                of_layer_norm::scale(&*norm, epsilon, s, &x)
            })
        })
        .or_else(|| {
            find::<N, _>("layer_norm::idempotence", (some(), made_plain::<N>()), |(x, norm)| {
                of_layer_norm::idempotence(&*norm, epsilon, &x)
            })
        })
}

/// As [`check::rms_norm`](crate::laws::check::rms_norm).
#[must_use]
pub fn rms_norm<N: Norm<D_MODEL>, const D_MODEL: usize>(epsilon: f32) -> Found {
    common::<N, D_MODEL>()
        .or_else(|| {
            find::<N, _>("rms_norm::mean_square", (some(), made_plain::<N>()), |(x, norm)| {
                of_rms_norm::mean_square(&*norm, epsilon, &x)
            })
        })
        .or_else(|| {
            find::<N, _>("rms_norm::scale", (some(), factor(), models::<N>()), |(x, Named(_, s), norm)| {
                of_rms_norm::scale(&*norm, epsilon, s, &x)
            })
        })
}
