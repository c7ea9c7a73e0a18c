//! Decoders that also attend to the output of an encoder.

use crate::{
    attention::{AttentionTile, KeyValueFormat, LookedUpIn, MultiHeadAttention, Place, Projections},
    cache::Cache,
    cost::Macs,
    family::{Family, Masked},
    feed_forward::PositionWise,
    format::Format,
    kernel::Add,
    mask::{Bidirectional, Causal},
    number::Number,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    plain::Zero,
    residual::{Placement, after, before},
    sequence::{Sequence, TooLong},
    shape::{KnownWidth, SplitInto, Width},
    sub_layers::{Remembered, Remembers, SubLayers, TileScratch, see_after, see_before, see_output},
    token_format::{ComputedIn, TokenFormat},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

/// Post-LN: u = norm(x + self_attention(x)), z = norm(u + cross_attention(u, s)), y = norm(z + feed_forward(z)).
/// Pre-LN: u = x + self_attention(norm(x)), z = u + cross_attention(norm(u), s), y = z + feed_forward(norm(z))
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | n x `D_MODEL` | the tokens of the target, before and after |
/// | s | m x `D_MODEL` | the tokens of the source: the output of an encoder's last block |
/// | self_attention | | causal: a token sees itself and those before it |
/// | cross_attention | | its queries are of the target, its keys and values of all of the source |
///
/// If there is no source token, its context is zeros. Vaswani et al., [Attention Is All You Need][paper], 2017. PyTorch:
/// `nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF)`: `self_attn`, `multihead_attn`, `norm1`, `norm2`, `norm3`.
///
/// [paper]: https://arxiv.org/abs/1706.03762
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CrossBlock<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format = f32>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// The sub-layer in which the target attends to itself.
    pub self_attention: MultiHeadAttention<Masked<F, Causal>, D_MODEL, HEADS, T>,
    /// The norm of that sub-layer.
    pub self_attention_norm: F::Norm<D_MODEL>,
    /// The sub-layer in which the target attends to the source.
    pub cross_attention: MultiHeadAttention<Masked<F, Bidirectional>, D_MODEL, HEADS, T>,
    /// The norm of that sub-layer.
    pub cross_attention_norm: F::Norm<D_MODEL>,
    /// The feed-forward sub-layer.
    pub feed_forward: F::FeedForward<D_MODEL, D_FF, T>,
    /// The norm of the feed-forward sub-layer.
    pub feed_forward_norm: F::Norm<D_MODEL>,
}

parameters! {
    [F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    CrossBlock<F, D_MODEL, D_FF, HEADS, T> {
        self_attention, self_attention_norm, cross_attention, cross_attention_norm, feed_forward, feed_forward_norm
    }
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("cross block").number(F::Placement::NORM_FIRST as usize);
}

/// Working memory of a decoder of up to `TARGET_LEN` tokens that attends to up to `SOURCE_LEN`: what it holds before and after
/// does not matter.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct CrossScratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const TARGET_LEN: usize,
    const SOURCE_LEN: usize,
    const TILE: usize = { crate::TILE },
    K: LookedUpIn<N> = f32,
    X: ComputedIn<N> = f32,
    N: Number = f32,
> {
    target: TileScratch<D_MODEL, D_FF, TARGET_LEN, TILE, K, X, N>,
    source: AttentionTile<D_MODEL, SOURCE_LEN, TILE, K, N>,
}

impl<
    const D_MODEL: usize,
    const D_FF: usize,
    const TARGET_LEN: usize,
    const SOURCE_LEN: usize,
    const TILE: usize,
    K: LookedUpIn<N>,
    X: ComputedIn<N>,
    N: Number,
> Zero for CrossScratch<D_MODEL, D_FF, TARGET_LEN, SOURCE_LEN, TILE, K, X, N>
{
    const ZERO: Self = Self { target: Zero::ZERO, source: Zero::ZERO };
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    CrossBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// For a source and a target of as many tokens each.
    const MACS: Macs = MultiHeadAttention::<Masked<F, Causal>, D_MODEL, HEADS, T>::MACS
        .and(MultiHeadAttention::<Masked<F, Bidirectional>, D_MODEL, HEADS, T>::MACS)
        .and(Macs::per_token(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::MACS));

    fn extend<const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut [<T::Stream as TokenFormat>::Token<D_MODEL>],
        remembered: Remembered,
        target: &mut Remembers<T::KeyValues, D_MODEL, TARGET_LEN>,
        source: (&Remembers<T::KeyValues, D_MODEL, SOURCE_LEN>, usize),
        scratch: &mut CrossScratch<D_MODEL, D_FF, TARGET_LEN, SOURCE_LEN, TILE, T::KeyValues, T::Stream, T::Number>,
        watch: &mut Watch<'_, O>,
    ) {
        let (key_values, source_len) = source;
        SubLayers::<F::Placement, _, _, _> {
            attention: &self.self_attention,
            names: ["self_attention", "self_attention_norm", "self_attention_residual"],
            attention_norm: &self.self_attention_norm,
            feed_forward: &self.feed_forward,
            feed_forward_norm: &self.feed_forward_norm,
            placement: PhantomData,
        }
        .extend(x, remembered, target, &mut scratch.target, watch, |x, input, watch| {
            let normed = before::<F::Placement, _, D_MODEL>(&self.cross_attention_norm, x, input);
            see_before::<F::Placement, _, D_MODEL>(&mut watch.field("cross_attention_norm"), normed);
            let place = Place { column: 0, before: 0 };
            let inside = &mut watch.field("cross_attention");
            let context =
                self.cross_attention.attend(normed, place, source_len, key_values, &mut scratch.source, inside);
            see_output(inside, x.len(), input, |out| self.cross_attention.output(context, out));
            self.cross_attention.output(context, Add(x));
            watch.field("cross_attention_residual").rows(x);
            after::<F::Placement, _, D_MODEL>(&self.cross_attention_norm, x);
            see_after::<F::Placement, _, D_MODEL>(&mut watch.field("cross_attention_norm"), x);
        });
    }
}

/// `LAYERS` blocks one after the other, then the family's final norm
///
/// PyTorch: `nn.TransformerDecoder(nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF), LAYERS, norm)` with a causal mask.
///
/// ```
/// use constformer::{Cache, CrossDecoder, CrossScratch, Sequence, Source, Vaswani, Zero};
///
/// static DECODER: CrossDecoder<Vaswani, 2, 32, 64, 4> = CrossDecoder::ZERO; // LAYERS, D_MODEL, D_FF, HEADS
/// let encoded = Sequence::<32, 9>::from(nalgebra::SMatrix::repeat(1.0)); //    what an encoder made of 9 tokens
///
/// let mut source = Source::<2, 32, 9>::ZERO; // LAYERS, D_MODEL, SOURCE_LEN
/// DECODER.attend_to(&encoded, &mut source);
/// let mut cache = Cache::<2, 32, 5>::ZERO; //   LAYERS, D_MODEL, CAPACITY
/// let mut scratch = CrossScratch::<32, 64, 5, 9, 4>::ZERO;
/// let mut x = Sequence::<32, 5>::from(nalgebra::SMatrix::repeat(1.0));
/// DECODER.extend(&mut x, &source, &mut cache, &mut scratch)?;
/// assert_eq!(cache.len(), 5);
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CrossDecoder<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format = f32,
> where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// The blocks, first to last.
    pub blocks: [CrossBlock<F, D_MODEL, D_FF, HEADS, T>; LAYERS],
    /// The final norm.
    pub norm: F::FinalNorm<D_MODEL>,
}

parameters! {
    [F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T> { blocks, norm }
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }
}

/// The keys and values of a source of up to `SOURCE_LEN` tokens, in each of `LAYERS` layers: computed once for a whole target.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Source<const LAYERS: usize, const D_MODEL: usize, const SOURCE_LEN: usize, K: KeyValueFormat = f32> {
    layers: [K::KeyValues<D_MODEL, SOURCE_LEN>; LAYERS],
    len: u32,
}

impl<const LAYERS: usize, const D_MODEL: usize, const SOURCE_LEN: usize, K: KeyValueFormat> Zero
    for Source<LAYERS, D_MODEL, SOURCE_LEN, K>
{
    const ZERO: Self = Self { layers: Zero::ZERO, len: 0 };
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// For a source and a target of as many tokens each.
    pub(crate) const MACS: Macs = CrossBlock::<F, D_MODEL, D_FF, HEADS, T>::MACS.times(LAYERS);

    /// `source` becomes the keys and values of `encoded`, the output of an encoder.
    pub fn attend_to<const SOURCE_LEN: usize>(
        &self,
        encoded: &Sequence<D_MODEL, SOURCE_LEN, T::Stream>,
        source: &mut Source<LAYERS, D_MODEL, SOURCE_LEN, T::KeyValues>,
    ) {
        for (block, key_values) in self.blocks.iter().zip(&mut source.layers) {
            let (root, nobody) = (Name::ROOT, &mut Unobserved);
            let nobody = &mut Watch::new(&root, nobody);
            let (all, room) = (&mut T::KeyValues::all(key_values), &mut [[Zero::ZERO; D_MODEL]]);
            T::Stream::read(encoded.stored(), |first, encoded| {
                let place = Place { column: first, before: 0 };
                T::KeyValues::remember(&block.cross_attention, encoded, place, all, room, nobody);
            });
        }
        source.len = encoded.len() as u32;
    }

    /// Replaces the tokens `x` of the target, which come after those in `cache`, by the output; the cache remembers them too.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the cache has no room for them; then nothing is changed.
    pub fn extend<const SEQ_LEN: usize, const SOURCE_LEN: usize, const CAPACITY: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        source: &Source<LAYERS, D_MODEL, SOURCE_LEN, T::KeyValues>,
        cache: &mut Cache<LAYERS, D_MODEL, CAPACITY, T::KeyValues>,
        scratch: &mut CrossScratch<D_MODEL, D_FF, CAPACITY, SOURCE_LEN, TILE, T::KeyValues, T::Stream, T::Number>,
    ) -> Result<(), TooLong> {
        self.observe(x, source, cache, scratch, &Name::ROOT, &mut Unobserved)
    }

    /// As [`extend`](Self::extend), and `observer` sees what happens inside, under names that begin with `name`.
    ///
    /// # Errors
    ///
    /// As [`extend`](Self::extend).
    pub fn observe<
        const SEQ_LEN: usize,
        const SOURCE_LEN: usize,
        const CAPACITY: usize,
        const TILE: usize,
        O: Observer,
    >(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        source: &Source<LAYERS, D_MODEL, SOURCE_LEN, T::KeyValues>,
        cache: &mut Cache<LAYERS, D_MODEL, CAPACITY, T::KeyValues>,
        scratch: &mut CrossScratch<D_MODEL, D_FF, CAPACITY, SOURCE_LEN, TILE, T::KeyValues, T::Stream, T::Number>,
        name: &Name<'_>,
        observer: &mut O,
    ) -> Result<(), TooLong> {
        let (remembered, first) = (cache.remembered(), cache.position());
        let watch = &mut Watch::new(name, observer);
        let layers = self.blocks.iter().zip(cache.room(x.len())?).zip(&source.layers).enumerate();
        for (i, ((block, target), of_source)) in layers {
            let watch = &mut watch.field("blocks");
            let of_source = (of_source, source.len as usize);
            block.extend(x.stored_mut(), remembered, target, of_source, scratch, &mut watch.index(i));
        }
        cache.grow(x.len());
        x.normalize::<T::Number>(&self.norm);
        watch.field("norm").at(first).sequence(x);
        Ok(())
    }
}
