//! Decoders: blocks in which a token sees itself and those before it, with grouped heads and a cache.

use crate::{
    attention::GroupedQueryAttention,
    cache::{Cache, CachedLayer},
    cost::{Macs, Model, Working},
    family::Family,
    feed_forward::PositionWise,
    format::Format,
    layer::Layer,
    mask::Causal,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    residual::Placement,
    sequence::{Sequence, TooLong},
    shape::{KnownWidth, SharedBy, Width},
    sub_layers::{NAMES, Scratch, SubLayers, TileScratch},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// As [`EncoderBlock`](crate::EncoderBlock), but causal, and its attention may be grouped: the block of GPT and Llama
///
/// `KV_HEADS` heads of key and value, `D_KV` = `KV_HEADS` `D_MODEL` / `HEADS` columns in all, serve `HEADS` heads of the query;
/// by default each has its own. The family's mask must be [`Causal`].
///
/// Radford et al., [Language Models are Unsupervised Multitask Learners][gpt2], 2019; Touvron et al.,
/// [LLaMA](https://arxiv.org/abs/2302.13971), 2023. Hugging Face: `GPT2Block`, `LlamaDecoderLayer`.
///
/// [gpt2]: https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct DecoderBlock<
    F: Family<Mask = Causal>,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format = f32,
    const KV_HEADS: usize = HEADS,
    const D_KV: usize = D_MODEL,
> where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    /// The attention sub-layer.
    pub attention: GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>,
    /// The norm of the attention sub-layer.
    pub attention_norm: F::Norm<D_MODEL>,
    /// The feed-forward sub-layer.
    pub feed_forward: F::FeedForward<D_MODEL, D_FF, T>,
    /// The norm of the feed-forward sub-layer.
    pub feed_forward_norm: F::Norm<D_MODEL>,
}

parameters! {
    [
        F: Family<Mask = Causal>, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format,
        const KV_HEADS: usize, const D_KV: usize
    ]
    DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV> {
        attention, attention_norm, feed_forward, feed_forward_norm
    }
    where { Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("block").number(F::Placement::NORM_FIRST as usize);
}

impl<
    F: Family<Mask = Causal>,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    pub(crate) fn sub_layers(
        &self,
    ) -> SubLayers<
        '_,
        F::Placement,
        GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>,
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

impl<
    F: Family<Mask = Causal>,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> Model for DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<
        D_MODEL,
        SEQ_LEN,
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
        T::Stream,
    >;

    const MACS: Macs = GroupedQueryAttention::<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>::MACS
        .and(Macs::per_token(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::MACS));
}

impl<
    F: Family<Mask = Causal>,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> Layer<D_MODEL> for DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type Stream = T::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.observe(x, scratch, &Name::ROOT, &mut Unobserved);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.sub_layers().forward(x, scratch, &mut Watch::new(name, observer));
    }
}

/// `LAYERS` blocks one after the other, then the family's final norm: GPT and Llama without embedding and head
///
/// As a [`Layer`] it takes all tokens at once. With [`extend`](CachedLayer::extend) it takes the next ones and remembers the keys and
/// values of those before them in a [`Cache`].
///
/// ```
/// use constformer::{Cache, CachedLayer, Decoder, Llama, Sequence, TileScratch, Zero};
///
/// type Stories = Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>; // LAYERS, D_MODEL, D_FF, HEADS, ..., KV_HEADS, D_KV
///
/// static DECODER: Stories = Stories::ZERO;
/// let mut cache = Cache::<5, 32, 512>::ZERO; // LAYERS, D_KV, CAPACITY
/// let mut scratch = TileScratch::<64, 172, 512, 4>::ZERO;
///
/// let mut prompt = Sequence::<64, 3>::from(nalgebra::SMatrix::repeat(1.0));
/// DECODER.extend(&mut prompt, &mut cache, &mut scratch)?;
/// let mut next = Sequence::<64, 1>::from(nalgebra::SMatrix::repeat(1.0));
/// DECODER.extend(&mut next, &mut cache, &mut scratch)?;
/// assert_eq!(cache.len(), 4);
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Decoder<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format = f32,
    const KV_HEADS: usize = HEADS,
    const D_KV: usize = D_MODEL,
> where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    /// The blocks, first to last.
    pub blocks: [DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>; LAYERS],
    /// The final norm.
    pub norm: F::FinalNorm<D_MODEL>,
}

parameters! {
    [
        F: Family<Mask = Causal>, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format,
        const KV_HEADS: usize, const D_KV: usize
    ]
    Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV> { blocks, norm }
    where { Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>, Width<D_FF>: KnownWidth }
}

impl<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> CachedLayer<D_MODEL> for Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type Cache<const CAPACITY: usize> = Cache<LAYERS, D_KV, CAPACITY, T::KeyValues>;
    type StepScratch<const CAPACITY: usize, const TILE: usize> =
        TileScratch<D_MODEL, D_FF, CAPACITY, TILE, T::KeyValues, T::Stream, T::Number>;

    fn extend<const SEQ_LEN: usize, const CAPACITY: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        cache: &mut Cache<LAYERS, D_KV, CAPACITY, T::KeyValues>,
        scratch: &mut TileScratch<D_MODEL, D_FF, CAPACITY, TILE, T::KeyValues, T::Stream, T::Number>,
    ) -> Result<(), TooLong> {
        let remembered = cache.remembered();
        let (root, nobody) = (Name::ROOT, &mut Unobserved);
        let nobody = &mut Watch::new(&root, nobody);
        for (block, key_values) in self.blocks.iter().zip(cache.room(x.len())?) {
            block.sub_layers().extend(x.stored_mut(), remembered, key_values, scratch, nobody, |_, _, _| ());
        }
        cache.grow(x.len());
        x.normalize::<T::Number>(&self.norm);
        Ok(())
    }
}

impl<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> Model for Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<
        D_MODEL,
        SEQ_LEN,
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
        T::Stream,
    >;

    const MACS: Macs = DecoderBlock::<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>::MACS.times(LAYERS);
}

impl<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> Layer<D_MODEL> for Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type Stream = T::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.observe(x, scratch, &Name::ROOT, &mut Unobserved);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.blocks.observe(x, scratch, &name.field("blocks"), observer);
        x.normalize::<T::Number>(&self.norm);
        Watch::new(&name.field("norm"), observer).sequence(x);
    }
}
