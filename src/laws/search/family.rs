//! All that a family is made of.

use super::{attention, block, counterexample::Found, feed_forward, norm};
use crate::{Encoder, EncoderBlock, Family, KnownWidth, SplitInto, Width};

/// As [`check::family`](crate::laws::check::family).
#[must_use]
pub fn family<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, const SEQ_LEN: usize>() -> Found
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    norm::<F::Norm<D_MODEL>, D_MODEL>()
        .or_else(norm::<F::FinalNorm<D_MODEL>, D_MODEL>)
        .or_else(attention::<F, D_MODEL, HEADS, SEQ_LEN>)
        .or_else(feed_forward::<F::FeedForward<D_MODEL, D_FF, f32>, D_MODEL, D_FF, SEQ_LEN>)
        .or_else(block::<EncoderBlock<F, D_MODEL, D_FF, HEADS>, D_MODEL, SEQ_LEN>)
        .or_else(block::<[EncoderBlock<F, D_MODEL, D_FF, HEADS>; 2], D_MODEL, SEQ_LEN>)
        .or_else(block::<Encoder<F, 2, D_MODEL, D_FF, HEADS>, D_MODEL, SEQ_LEN>)
}
