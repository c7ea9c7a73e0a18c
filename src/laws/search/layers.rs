//! Layers of any kind.

use super::counterexample::{Found, find};
use crate::{
    Layer,
    laws::{attention, extreme_tokens, models, padded, sequence, tokens},
};
use std::vec::Vec;

/// Tokens that share a tile, unless a law is about others.
pub(super) const TILE: usize = 4;
/// Another capacity, a small one: a layer with positions has no room for a larger one than it says.
const FEW: usize = 3;

/// As [`check::layer`](crate::laws::check::layer).
#[must_use]
pub fn layer<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    let inputs = || (tokens::<D_MODEL>(0..=SEQ_LEN), models::<L>());
    find::<L, _>("sequence::padding", inputs(), |(x, layer)| sequence::padding::<D_MODEL, SEQ_LEN, TILE>(&*layer, &x))
        .or_else(|| {
            find::<L, _>("sequence::junk", (padded(0..=SEQ_LEN), models::<L>()), |(x, layer)| {
                sequence::junk::<D_MODEL, SEQ_LEN, TILE>(&*layer, &x)
            })
        })
        .or_else(|| {
            find::<L, _>("sequence::repetition", inputs(), |(x, layer)| {
                sequence::repetition::<D_MODEL, SEQ_LEN, TILE>(&*layer, &x)
            })
        })
        .or_else(|| {
            find::<L, _>("sequence::capacity", (tokens(0..=SEQ_LEN.min(FEW)), models::<L>()), |(x, layer)| {
                sequence::capacity::<D_MODEL, FEW, SEQ_LEN, TILE>(&*layer, &x)
            })
        })
        .or_else(|| {
            find::<L, _>("sequence::tiles", inputs(), |(x, layer)| {
                sequence::tiles::<D_MODEL, SEQ_LEN, TILE, 1>(&*layer, &x)?;
                sequence::tiles::<D_MODEL, SEQ_LEN, TILE, 3>(&*layer, &x)?;
                sequence::tiles::<D_MODEL, SEQ_LEN, TILE, { crate::TILE }>(&*layer, &x)
            })
        })
        .or_else(|| {
            let batches = ([tokens::<D_MODEL>(0..=SEQ_LEN), tokens(0..=SEQ_LEN)], models::<L>());
            find::<L, _>("sequence::batch", batches, |([a, b], layer)| {
                sequence::batch::<D_MODEL, SEQ_LEN, TILE>(&*layer, &[a, Vec::new(), b])
            })
        })
}

/// As [`check::causal`](crate::laws::check::causal).
#[must_use]
pub fn causal<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    layer::<L, D_MODEL, SEQ_LEN>().or_else(prefix::<L, D_MODEL, SEQ_LEN>)
}

/// As [`check::bidirectional`](crate::laws::check::bidirectional).
#[must_use]
pub fn bidirectional<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    layer::<L, D_MODEL, SEQ_LEN>().or_else(permutation::<L, D_MODEL, SEQ_LEN>)
}

pub(super) fn prefix<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    let lists = [tokens::<D_MODEL>(0..=SEQ_LEN), extreme_tokens(0..=SEQ_LEN)];
    lists.into_iter().find_map(|list| {
        find::<L, _>("attention::prefix", (list, models::<L>()), |(x, layer)| {
            attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*layer, &x)
        })
    })
}

pub(super) fn permutation<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    find::<L, _>("attention::permutation", (tokens::<D_MODEL>(0..=SEQ_LEN), models::<L>()), |(x, layer)| {
        attention::permutation::<D_MODEL, SEQ_LEN, TILE>(&*layer, &x)
    })
}
