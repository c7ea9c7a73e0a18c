//! The encoder block.

use crate::{
    attention::MultiHeadAttention,
    cost::{Macs, Model, Working},
    family::Family,
    feed_forward::PositionWise,
    format::Format,
    layer::Layer,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    residual::Placement,
    sequence::Sequence,
    shape::{KnownWidth, SplitInto, Width},
    sub_layers::{NAMES, Scratch, SubLayers},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

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
    Width<D_FF>: KnownWidth,
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
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("block").number(F::Placement::NORM_FIRST as usize);
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    pub(crate) fn sub_layers(
        &self,
    ) -> SubLayers<
        '_,
        F::Placement,
        MultiHeadAttention<F, D_MODEL, HEADS, T>,
        F::Norm<D_MODEL>,
        F::FeedForward<D_MODEL, D_FF, T>,
    > {
        SubLayers {
            attention: &self.attention,
            names: NAMES,
            attention_norm: &self.attention_norm,
            feed_forward: &self.feed_forward,
            feed_forward_norm: &self.feed_forward_norm,
            placement: PhantomData,
        }
    }
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Model
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<
        D_MODEL,
        SEQ_LEN,
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
        T::Stream,
    >;

    const MACS: Macs = MultiHeadAttention::<F, D_MODEL, HEADS, T>::MACS
        .and(Macs::per_token(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::MACS));
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Layer<D_MODEL>
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Stream = T::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.observe(x, scratch, &Name::ROOT, &mut Unobserved);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.sub_layers().forward(x, scratch, &mut Watch::new(name, observer));
    }
}
