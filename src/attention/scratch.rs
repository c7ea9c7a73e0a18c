//! What attention needs to know of the other tokens, and to work.

use super::keys::{Keys, KeysMut};
#[cfg(feature = "rayon")]
use crate::kernel::PANEL;
use crate::{message::Message, plain::Zero};
use zerocopy::FromZeros;

/// The keys and values of up to `SEQ_LEN` tokens, of `D_KV` columns each.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct KeyValues<const D_KV: usize, const SEQ_LEN: usize> {
    pub(crate) keys: Keys<D_KV, SEQ_LEN>,
    pub(crate) values: [[f32; D_KV]; SEQ_LEN],
}

impl<const D_KV: usize, const SEQ_LEN: usize> Zero for KeyValues<D_KV, SEQ_LEN> {
    const ZERO: Self = Self { keys: Zero::ZERO, values: Zero::ZERO };
}

impl<const D_KV: usize, const SEQ_LEN: usize> KeyValues<D_KV, SEQ_LEN> {
    /// All of them, to be written.
    pub(crate) const fn all(&mut self) -> KeyValuesMut<'_, D_KV, SEQ_LEN> {
        KeyValuesMut { keys: self.keys.all(), values: &mut self.values, first: 0 }
    }

    /// Those of 32 tokens after the other, to be written at the same time: as many keys are a panel.
    #[cfg(feature = "rayon")]
    pub(crate) fn panels_mut(&mut self) -> impl Iterator<Item = KeyValuesMut<'_, D_KV, SEQ_LEN>> {
        let parts = self.keys.panels_mut().zip(self.values.chunks_mut(PANEL)).enumerate();
        parts.map(|(i, (keys, values))| KeyValuesMut { keys, values, first: i * PANEL })
    }
}

/// Keys and values to be written: all, or those of 32 tokens.
pub(crate) struct KeyValuesMut<'a, const D_KV: usize, const SEQ_LEN: usize> {
    pub(super) keys: KeysMut<'a, D_KV, SEQ_LEN>,
    pub(super) values: &'a mut [[f32; D_KV]],
    /// The token that they begin with.
    pub(crate) first: usize,
}

/// What attention needs for a tile of `TILE` tokens that see up to `SEQ_LEN`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct AttentionTile<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }> {
    /// The queries; then, head by head, the context.
    pub(crate) query: [[f32; D_MODEL]; TILE],
    pub(crate) scores: [[f32; SEQ_LEN]; TILE],
    /// 1 / the sum of a row of exponentials.
    pub(crate) scale: [f32; TILE],
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> Zero for AttentionTile<D_MODEL, SEQ_LEN, TILE> {
    const ZERO: Self = Self { query: Zero::ZERO, scores: Zero::ZERO, scale: Zero::ZERO };
}

/// How many of `len` tokens make a tile: at most `TILE`, at least one, and none much fewer than another, since few rows cost
/// as much as eight.
pub(crate) const fn rows<const TILE: usize>(len: usize) -> usize {
    const {
        if TILE == 0 {
            Message::new().text("a tile of ").number(TILE).text(" tokens: it must have at least one").panic();
        }
    }
    let even = match len.div_ceil(TILE) {
        0 | 1 => TILE,
        tiles => len.div_ceil(tiles).next_multiple_of(8),
    };
    match if even < TILE { even } else { TILE } {
        0 => 1, // never, and so told to the compiler: `chunks` of none would panic
        rows => rows,
    }
}

/// Working memory of attention: keys and values are as long as the sequence, all else as long as a tile of `TILE` tokens.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct AttentionScratch<
    const D_MODEL: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
> {
    pub(crate) key_values: KeyValues<D_KV, SEQ_LEN>,
    pub(crate) tile: AttentionTile<D_MODEL, SEQ_LEN, TILE>,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize> Zero
    for AttentionScratch<D_MODEL, SEQ_LEN, TILE, D_KV>
{
    const ZERO: Self = Self { key_values: Zero::ZERO, tile: Zero::ZERO };
}
