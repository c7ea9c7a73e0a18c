//! constformer: sizes in the type, weights packed when they are loaded, memory allocated once.

use super::Peer;
use crate::{shape::Shape, weights::Weights};
use constformer::{
    Boxed, Cache, CachedLayer, Causal, Decoder, Encoder, Family, KnownWidth, Layer, Memory, Parameters, Sequence,
    SharedBy, SplitInto, TileScratch, Width, Working, boxed,
};

/// Tokens that the cache has room for.
const CAPACITY: usize = 512;
/// Tokens at a time.
const TILE: usize = constformer::TILE;

struct EncoderPeer<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
> where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    model: Boxed<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>>,
    memory: Boxed<Memory<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>, SEQ_LEN>>,
    input: Vec<f32>,
}

/// An encoder.
#[must_use]
pub fn encoder<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
>(
    shape: &Shape,
) -> Box<dyn Peer>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    Box::new(EncoderPeer::<F, LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN> {
        model: filled(shape),
        memory: boxed(),
        input: Weights::tokens(shape),
    })
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, const SEQ_LEN: usize>
    Peer for EncoderPeer<F, LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    fn forward(&mut self) {
        let Working { stream, scratch } = &mut *self.memory;
        stream.assign(self.input.as_chunks().0).expect("as many tokens as there is room for");
        self.model.forward(stream, scratch);
    }

    fn output(&mut self) -> Vec<f32> {
        self.memory.stream.tokens().as_flattened().to_vec()
    }
}

struct DecoderPeer<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const PAST: usize,
> where
    Width<D_MODEL>: SharedBy<HEADS, HEADS, D_MODEL>,
    Width<D_FF>: KnownWidth,
{
    model: Boxed<Decoder<F, LAYERS, D_MODEL, D_FF, HEADS>>,
    cache: Boxed<Cache<LAYERS, D_MODEL, CAPACITY>>,
    scratch: Boxed<TileScratch<D_MODEL, D_FF, CAPACITY, TILE>>,
    stream: Boxed<Sequence<D_MODEL, 1>>,
    input: Vec<f32>,
}

/// A decoder whose cache remembers `PAST` tokens.
///
/// # Panics
///
/// If the shape has a longer past.
#[must_use]
pub fn decoder<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const PAST: usize,
>(
    shape: &Shape,
) -> Box<dyn Peer>
where
    Width<D_MODEL>: SharedBy<HEADS, HEADS, D_MODEL>,
    Width<D_FF>: KnownWidth,
{
    let model: Boxed<Decoder<F, LAYERS, D_MODEL, D_FF, HEADS>> = filled(shape);
    let mut cache = boxed::<Cache<LAYERS, D_MODEL, CAPACITY>>();
    let mut scratch = boxed::<TileScratch<D_MODEL, D_FF, CAPACITY, TILE>>();
    let mut past = boxed::<Sequence<D_MODEL, PAST>>();
    past.assign(Weights::past(shape).as_chunks().0).expect("as many tokens as there is room for");
    model.extend(&mut past, &mut cache, &mut scratch).expect("room in the cache");
    let input = Weights::tokens(shape);
    Box::new(DecoderPeer::<F, LAYERS, D_MODEL, D_FF, HEADS, PAST> { model, cache, scratch, stream: boxed(), input })
}

impl<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const PAST: usize,
> Peer for DecoderPeer<F, LAYERS, D_MODEL, D_FF, HEADS, PAST>
where
    Width<D_MODEL>: SharedBy<HEADS, HEADS, D_MODEL>,
    Width<D_FF>: KnownWidth,
{
    fn forward(&mut self) {
        self.cache.rewind(PAST).expect("as many tokens as before");
        self.stream.assign(self.input.as_chunks().0).expect("one token");
        self.model.extend(&mut self.stream, &mut self.cache, &mut self.scratch).expect("room in the cache");
    }

    fn output(&mut self) -> Vec<f32> {
        self.stream.tokens().as_flattened().to_vec()
    }
}

fn filled<M: Parameters>(shape: &Shape) -> Boxed<M> {
    let mut model = boxed::<M>();
    let mut weights = Weights::tensors(shape);
    model.for_each_tensor_mut(|name, mut tensor| {
        let (_, _, values) = weights.next().unwrap_or_else(|| panic!("no weights for {name}"));
        tensor.set_row_major(values.into_iter()).expect("as many numbers as the shape says");
    });
    drop(weights);
    model
}
