//! The encoder block.

use crate::{
    attention::{AttentionScratch, MultiHeadAttention},
    cost::{Macs, Model, Working},
    family::Family,
    feed_forward::{FeedForwardScratch, PositionWise},
    format::Format,
    kernel::Add,
    layer::Layer,
    mask::Mask,
    parameters,
    plain::Zero,
    residual::Placement,
    sequence::Sequence,
    shape::{SplitInto, Width},
};
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

/// Post-LN: z = norm(x + attention(x)), y = norm(z + feed_forward(z)).
/// Pre-LN: z = x + attention(norm(x)), y = z + feed_forward(norm(z))
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | n x `D_MODEL` | the tokens, before and after |
/// | attention | | [`MultiHeadAttention`] of `HEADS` heads, with the family's mask and biases |
/// | `feed_forward` | | the family's [`PositionWise`] layer, by way of `D_FF` features |
/// | norm | | the family's [`Norm`](crate::Norm), one of its own for each sub-layer |
///
/// The family `F` also says which of the two; `T` is the format of the weights. A family whose mask is
/// [`Causal`](crate::Causal) makes it the block of a GPT.
///
/// Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017. PyTorch:
/// `nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF)`, whose `norm1` and `norm2` are
/// [`attention_norm`](Self::attention_norm) and [`feed_forward_norm`](Self::feed_forward_norm) in both placements.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct EncoderBlock<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format = f32>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    /// The attention sub-layer.
    pub attention: MultiHeadAttention<F, D_MODEL, HEADS, T>,
    /// The norm of the attention sub-layer.
    pub attention_norm: F::Norm<D_MODEL>,
    /// The feed-forward sub-layer.
    pub feed_forward: F::FeedForward<D_MODEL, D_FF, T>,
    /// The norm of the feed-forward sub-layer.
    pub feed_forward_norm: F::Norm<D_MODEL>,
}

parameters! {
    [F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    EncoderBlock<F, D_MODEL, D_FF, HEADS, T> { attention, attention_norm, feed_forward, feed_forward_norm }
    where { Width<D_MODEL>: SplitInto<HEADS> }
    structure: |fingerprint| fingerprint.name("block").number(F::Placement::NORM_FIRST as usize);
}

/// Working memory of a block, and of a stack of them: what it holds before and after does not matter, so all layers share it.
///
/// Only keys and values are as long as the sequence. All else is as long as a tile of `TILE` tokens, since only attention
/// mixes tokens.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Scratch<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }> {
    pub(crate) attention: AttentionScratch<D_MODEL, SEQ_LEN, TILE>,
    pub(crate) feed_forward: FeedForwardScratch<D_FF, TILE>,
    /// What a sub-layer is given, if that is normalised first.
    pub(crate) input: [[f32; D_MODEL]; TILE],
}

impl<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize> Zero
    for Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>
{
    const ZERO: Self = Self { attention: Zero::ZERO, feed_forward: Zero::ZERO, input: Zero::ZERO };
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Model
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>>;

    const MACS: Macs = MultiHeadAttention::<F, D_MODEL, HEADS, T>::MACS
        .and(Macs::per_token(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::MACS));
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Layer<D_MODEL>
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    type Scratch<const SEQ_LEN: usize, const TILE: usize> = Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>,
    ) {
        let (len, rows) = (x.len(), AttentionScratch::<D_MODEL, SEQ_LEN, TILE>::ROWS);
        if !F::Mask::CAUSAL {
            for (i, x) in x.tokens().chunks(rows).enumerate() {
                self.remember(x, i * rows, scratch);
            }
        }
        for (i, x) in x.tokens_mut().chunks_mut(rows).enumerate() {
            if F::Mask::CAUSAL {
                self.remember(x, i * rows, scratch); // no token sees a later one, so one pass does
            }
            self.advance(x, i * rows, len, scratch);
        }
    }
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    /// Writes the keys and values of the tokens `x`, which begin at `position`.
    fn remember<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        position: usize,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>,
    ) {
        let Scratch { attention, input, .. } = scratch;
        let input = F::Placement::before(&self.attention_norm, x, input);
        self.attention.remember(input, position, &mut attention.key_values);
    }

    /// Replaces the tokens `x`, which begin at `position`, by the output of the block; all that they see is remembered.
    fn advance<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut [[f32; D_MODEL]],
        position: usize,
        len: usize,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>,
    ) {
        let Scratch { attention, feed_forward, input } = scratch;
        let normed = F::Placement::before(&self.attention_norm, x, input);
        self.attention.attend(normed, position, len, attention);
        self.attention.project(attention.context(x.len()), Add(x));
        F::Placement::after(&self.attention_norm, x);

        let normed = F::Placement::before(&self.feed_forward_norm, x, input);
        let hidden = feed_forward.hidden(normed.len());
        self.feed_forward.widen(normed, hidden);
        self.feed_forward.narrow(hidden, Add(x));
        F::Placement::after(&self.feed_forward_norm, x);
    }
}
