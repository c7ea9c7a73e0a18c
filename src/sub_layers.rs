//! Self-attention and feed-forward with their residual connections: what all blocks have in common.

use crate::{
    attention::{AttentionTile, KeyValues, Place, Projections, rows},
    feed_forward::{FeedForwardScratch, PositionWise},
    kernel::Add,
    mask::Mask,
    norm::Norm,
    plain::Zero,
    residual::{Placement, after, before},
    sequence::Sequence,
};
use core::marker::PhantomData;
use zerocopy::FromZeros;

/// Working memory of a block, and of a stack of them: what it holds before and after does not matter, so all layers share it.
///
/// Only keys and values are as long as the sequence. All else is as long as a tile of `TILE` tokens, since only attention
/// mixes tokens.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Scratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
> {
    pub(crate) key_values: KeyValues<D_KV, SEQ_LEN>,
    pub(crate) tile: TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE>,
}

impl<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize> Zero
    for Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV>
{
    const ZERO: Self = Self { key_values: Zero::ZERO, tile: Zero::ZERO };
}

/// What the sub-layers of a block need for a tile of `TILE` tokens that see up to `SEQ_LEN`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct TileScratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
> {
    pub(crate) attention: AttentionTile<D_MODEL, SEQ_LEN, TILE>,
    pub(crate) feed_forward: FeedForwardScratch<D_FF, TILE>,
    /// What a sub-layer is given, if that is normalised first.
    pub(crate) input: [[f32; D_MODEL]; TILE],
}

impl<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize> Zero
    for TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE>
{
    const ZERO: Self = Self { attention: Zero::ZERO, feed_forward: Zero::ZERO, input: Zero::ZERO };
}

/// The tokens before those that a block is given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remembered {
    /// How many there are keys and values of.
    pub(crate) tokens: usize,
    /// How many came before them.
    pub(crate) let_go: usize,
}

/// The sub-layers of a block, where they lie.
pub(crate) struct SubLayers<'a, P, A, N, W> {
    pub(crate) attention: &'a A,
    pub(crate) attention_norm: &'a N,
    pub(crate) feed_forward: &'a W,
    pub(crate) feed_forward_norm: &'a N,
    pub(crate) placement: PhantomData<P>,
}

impl<P: Placement, A, N, W> SubLayers<'_, P, A, N, W> {
    /// Replaces all tokens by the output of the block.
    pub(crate) fn forward<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
    >(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV>,
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF>,
    {
        let Scratch { key_values, tile } = scratch;
        self.extend(x.tokens_mut(), Remembered::default(), key_values, tile, |_, _| ());
    }

    /// Replaces the tokens `x` by the output of the block, and remembers them too. `between` is what happens to a tile of
    /// tokens between attention and feed-forward; it may use the room that it is given.
    pub(crate) fn extend<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
    >(
        &self,
        x: &mut [[f32; D_MODEL]],
        remembered: Remembered,
        key_values: &mut KeyValues<D_KV, SEQ_LEN>,
        tile: &mut TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE>,
        mut between: impl FnMut(&mut [[f32; D_MODEL]], &mut [[f32; D_MODEL]]),
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF>,
    {
        let TileScratch { attention, feed_forward, input } = tile;
        let (len, rows) = (remembered.tokens + x.len(), rows::<TILE>());
        let place = |tile: usize| Place { column: remembered.tokens + tile * rows, before: remembered.let_go };
        if !A::Mask::CAUSAL {
            for (i, x) in x.chunks(rows).enumerate() {
                let normed = before::<P, D_MODEL>(self.attention_norm, x, input);
                self.attention.remember(normed, place(i), key_values);
            }
        }
        for (i, x) in x.chunks_mut(rows).enumerate() {
            let normed = before::<P, D_MODEL>(self.attention_norm, x, input);
            if A::Mask::CAUSAL {
                self.attention.remember(normed, place(i), key_values); // no token sees a later one, so one pass does
            }
            let context = self.attention.attend(normed, place(i), len, key_values, attention);
            self.attention.output(context, Add(x));
            after::<P, D_MODEL>(self.attention_norm, x);
            between(x, input);
            self.feed_forward(x, feed_forward, input);
        }
    }

    /// x becomes after(x + feed_forward(before(x))), for a tile of tokens.
    fn feed_forward<const D_MODEL: usize, const D_FF: usize, const TILE: usize>(
        &self,
        x: &mut [[f32; D_MODEL]],
        scratch: &mut FeedForwardScratch<D_FF, TILE>,
        input: &mut [[f32; D_MODEL]],
    ) where
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF>,
    {
        let hidden = scratch.hidden(x.len());
        self.feed_forward.widen(before::<P, D_MODEL>(self.feed_forward_norm, x, input), hidden);
        self.feed_forward.narrow(hidden, Add(x));
        after::<P, D_MODEL>(self.feed_forward_norm, x);
    }
}
