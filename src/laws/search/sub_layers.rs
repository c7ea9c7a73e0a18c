//! Attention and feed-forward layers.

use super::{
    counterexample::{Found, find},
    layers::TILE,
};
use crate::{
    Family, MultiHeadAttention, PositionWise, SplitInto, Width,
    laws::{attention as of_attention, extreme_tokens, feed_forward as of_feed_forward, models, tokens},
};
use proptest::prop_oneof;

/// As [`check::attention`](crate::laws::check::attention).
#[must_use]
pub fn attention<F: Family, const D_MODEL: usize, const HEADS: usize, const SEQ_LEN: usize>() -> Found
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    type Of<F, const D_MODEL: usize, const HEADS: usize> = MultiHeadAttention<F, D_MODEL, HEADS>;
    let some = prop_oneof![tokens::<D_MODEL>(0..=SEQ_LEN), extreme_tokens(0..=SEQ_LEN)];
    find::<Of<F, D_MODEL, HEADS>, _>("attention::convexity", (some, models()), |(x, mut attention)| {
        of_attention::convexity::<F, D_MODEL, HEADS, SEQ_LEN, TILE>(&mut *attention, &x)
    })
    .or_else(|| {
        find::<Of<F, D_MODEL, HEADS>, _>("attention::one_token", (tokens(1..=1), models()), |(x, attention)| {
            of_attention::one_token::<F, D_MODEL, HEADS, SEQ_LEN, TILE>(&*attention, &x[0])
        })
    })
}

/// As [`check::feed_forward`](crate::laws::check::feed_forward).
#[must_use]
pub fn feed_forward<W, const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize>() -> Found
where
    W: PositionWise<D_MODEL, D_FF, Number = f32>,
{
    find::<W, _>("feed_forward::every_token_alone", (tokens(0..=SEQ_LEN), models::<W>()), |(x, layer)| {
        of_feed_forward::every_token_alone::<D_MODEL, D_FF, SEQ_LEN, TILE>(&*layer, &x)
    })
}
