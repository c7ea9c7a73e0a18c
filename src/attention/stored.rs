//! How keys and values are stored.

use super::{Place, Projections};
use crate::{
    number::Number,
    observe::{Observer, Watch},
    plain::Zero,
};
use core::fmt::Debug;
use zerocopy::FromZeros;

/// How keys and values are stored, between the token that they are of and those that look them up: `f32`, as they were computed, or
/// `i8`, a quarter of the memory.
///
/// As `i8`, keys and values are integers of -127 to 127 times a scale for each token, and queries and weights are integers of
/// -2047 to 2047 times a scale for each row, so that scores and contexts are sums of integers, the same on every processor. What a
/// number is off by is at most half a scale: max |k| / 254 of a key or value, max |q| / 4094 of a query or weight (of fixed-point numbers, 0.6 of one;
/// weights of softmax below 2⁻¹⁵ of the greatest are none). Softmax is in the numbers
/// `N` that the model computes in: see [`LookedUpIn`].
///
/// A model has it by the format of its weights: see [`Int8Cache`](crate::Int8Cache).
#[diagnostic::on_unimplemented(
    message = "keys and values cannot be stored as `{Self}`",
    label = "`f32` or `i8` is wanted here"
)]
pub trait KeyValueFormat: Copy + Debug + Send + Sync + 'static {
    /// Those of up to `SEQ_LEN` tokens, of `D_KV` columns each.
    type KeyValues<const D_KV: usize, const SEQ_LEN: usize>: Zero + FromZeros + Debug + Send + Sync;
    /// Keys and values to be written: all, or those of 32 tokens.
    #[doc(hidden)]
    type Part<'a, const D_KV: usize, const SEQ_LEN: usize>: Send;

    /// All of them, to be written.
    #[doc(hidden)]
    fn all<const D_KV: usize, const SEQ_LEN: usize>(
        key_values: &mut Self::KeyValues<D_KV, SEQ_LEN>,
    ) -> Self::Part<'_, D_KV, SEQ_LEN>;

    /// Those of 32 tokens after the other, to be written at the same time.
    #[doc(hidden)]
    #[cfg(feature = "rayon")]
    fn panels_mut<const D_KV: usize, const SEQ_LEN: usize>(
        key_values: &mut Self::KeyValues<D_KV, SEQ_LEN>,
    ) -> impl Iterator<Item = Self::Part<'_, D_KV, SEQ_LEN>> + Send;

    /// Forgets the `count` oldest of `len` tokens.
    #[doc(hidden)]
    fn let_go<const D_KV: usize, const SEQ_LEN: usize>(
        key_values: &mut Self::KeyValues<D_KV, SEQ_LEN>,
        count: usize,
        len: usize,
    );
}

/// Keys and values that are looked up by queries of `N`.
#[diagnostic::on_unimplemented(
    message = "keys and values that are stored as `{Self}` are not looked up in `{N}`",
    label = "`i8` is wanted here"
)]
#[expect(private_interfaces, private_bounds, reason = "hidden methods")]
pub trait LookedUpIn<N: Number>: KeyValueFormat {
    /// Working memory of the heads of a tile.
    type Heads<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>: Zero + FromZeros + Debug + Send;

    /// Writes the keys and values of the tokens `x`. `room` is for as many of them at a time as it has rows.
    #[doc(hidden)]
    fn remember<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize>(
        of: &P,
        x: &[[N; D_MODEL]],
        place: Place,
        to: &mut Self::Part<'_, D_KV, SEQ_LEN>,
        room: &mut [[N; D_MODEL]],
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = N>;

    /// Replaces the queries of a tile of tokens, the first of which is the one of `column`, by their context. There are `len` tokens with
    /// keys and values.
    #[doc(hidden)]
    fn attend<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize, const TILE: usize>(
        query: &mut [[N; D_MODEL]],
        heads: &mut Self::Heads<D_MODEL, SEQ_LEN, TILE>,
        key_values: &Self::KeyValues<D_KV, SEQ_LEN>,
        column: usize,
        len: usize,
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = N>;
}
