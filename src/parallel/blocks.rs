//! Blocks and stacks of them.

use super::{ParallelLayer, ParallelScratch};
use crate::{
    block::EncoderBlock,
    decoder::{Decoder, DecoderBlock},
    encoder::Encoder,
    family::Family,
    format::Format,
    mask::Causal,
    sequence::Sequence,
    shape::{KnownWidth, SharedBy, SplitInto, Width},
};

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> ParallelLayer<D_MODEL>
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize> =
        ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>;

    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut ParallelScratch<
            D_MODEL,
            D_FF,
            SEQ_LEN,
            THREADS,
            TILE,
            D_MODEL,
            T::KeyValues,
            T::Stream,
            T::Number,
        >,
    ) {
        self.sub_layers().forward_parallel(x, scratch);
    }
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    ParallelLayer<D_MODEL> for Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize> =
        ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>;

    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut ParallelScratch<
            D_MODEL,
            D_FF,
            SEQ_LEN,
            THREADS,
            TILE,
            D_MODEL,
            T::KeyValues,
            T::Stream,
            T::Number,
        >,
    ) {
        self.blocks.forward_parallel(x, scratch);
        x.normalize::<T::Number>(&self.norm);
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
> ParallelLayer<D_MODEL> for DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize> =
        ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, T::KeyValues, T::Stream, T::Number>;

    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.sub_layers().forward_parallel(x, scratch);
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
> ParallelLayer<D_MODEL> for Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize> =
        ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, T::KeyValues, T::Stream, T::Number>;

    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.blocks.forward_parallel(x, scratch);
        x.normalize::<T::Number>(&self.norm);
    }
}
