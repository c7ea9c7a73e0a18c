//! What attention needs to know of the other tokens, and to work.

use super::stored::LookedUpIn;
use crate::{number::Number, plain::Zero};
use zerocopy::FromZeros;

/// What attention needs for a tile of `TILE` tokens that see up to `SEQ_LEN`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct AttentionTile<
    const D_MODEL: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    K: LookedUpIn<N> = f32,
    N: Number = f32,
> {
    /// The queries; then, head by head, the context. Before that, room for keys and values that are not where they stay yet.
    pub(crate) query: [[N; D_MODEL]; TILE],
    pub(crate) heads: K::Heads<D_MODEL, SEQ_LEN, TILE>,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, K: LookedUpIn<N>, N: Number> Zero
    for AttentionTile<D_MODEL, SEQ_LEN, TILE, K, N>
{
    const ZERO: Self = Self { query: Zero::ZERO, heads: Zero::ZERO };
}

/// Working memory of attention: keys and values are as long as the sequence, all else as long as a tile of `TILE` tokens.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct AttentionScratch<
    const D_MODEL: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
    K: LookedUpIn<N> = f32,
    N: Number = f32,
> {
    pub(crate) key_values: K::KeyValues<D_KV, SEQ_LEN>,
    pub(crate) tile: AttentionTile<D_MODEL, SEQ_LEN, TILE, K, N>,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize, K: LookedUpIn<N>, N: Number> Zero
    for AttentionScratch<D_MODEL, SEQ_LEN, TILE, D_KV, K, N>
{
    const ZERO: Self = Self { key_values: Zero::ZERO, tile: Zero::ZERO };
}
