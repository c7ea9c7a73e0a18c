//! Forward passes on several threads, those of the rayon pool that they are called in: over the tiles of one sequence, and over
//! the sequences of a batch.

mod batch;
mod blocks;
mod models;
mod tiles;

pub use batch::forward_batch_parallel;

use crate::{
    attention::LookedUpIn, layer::Layer, number::Number, plain::Zero, sequence::Sequence, sub_layers::TileScratch,
    token_format::ComputedIn,
};
use zerocopy::FromZeros;

/// A layer that several threads can run on one sequence: [`EncoderBlock`](crate::EncoderBlock),
/// [`DecoderBlock`](crate::DecoderBlock), an array of them, [`Encoder`](crate::Encoder), [`Decoder`](crate::Decoder).
///
/// The threads are those of the rayon pool that it is called in, `THREADS` of them at most; in a pool of one thread it is
/// [`forward`](Layer::forward). The outputs are those of one thread, bit for bit, as long as all numbers are finite (see
/// [`Causal`](crate::Causal) for what a NaN does).
///
/// ```
/// use constformer::{Encoder, ParallelLayer, ParallelScratch, Sequence, Vit, Zero, boxed};
///
/// static ENCODER: Encoder<Vit, 2, 64, 256, 4> = Encoder::ZERO;
/// let mut scratch = boxed::<ParallelScratch<64, 256, 100, 8>>(); // D_MODEL, D_FF, SEQ_LEN, THREADS
/// let mut x = Sequence::<64, 100>::from(nalgebra::SMatrix::repeat(1.0));
/// ENCODER.forward_parallel(&mut x, &mut scratch); //                in rayon's global pool
///
/// let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// two.install(|| ENCODER.forward_parallel(&mut x, &mut scratch)); // in one of your own
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
///
/// It is worth it for one long text that is waited for. For many, [`forward_batch_parallel`] waits less: here all threads meet
/// twice in each block, there once in all. Small models are faster on one thread: to meet takes time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer of width {D_MODEL} that several threads can run",
    label = "a block, or a stack of blocks, of tokens with {D_MODEL} features is wanted here"
)]
pub trait ParallelLayer<const D_MODEL: usize>: Layer<D_MODEL> {
    /// Working memory for up to `SEQ_LEN` tokens and up to `THREADS` threads, each of which takes `TILE` tokens at a time. What it
    /// holds before and after does not matter.
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>: Zero + FromZeros;

    /// Replaces the tokens by the output of the layer.
    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::ParallelScratch<SEQ_LEN, THREADS, TILE>,
    );
}

/// As [`Scratch`](crate::Scratch), for `THREADS` threads: keys and values are of all tokens and shared, and each thread has a tile
/// of its own.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct ParallelScratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const THREADS: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
    K: LookedUpIn<N> = f32,
    X: ComputedIn<N> = f32,
    N: Number = f32,
> {
    key_values: K::KeyValues<D_KV, SEQ_LEN>,
    tiles: [TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE, K, X, N>; THREADS],
}

impl<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const THREADS: usize,
    const TILE: usize,
    const D_KV: usize,
    K: LookedUpIn<N>,
    X: ComputedIn<N>,
    N: Number,
> Zero for ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, K, X, N>
{
    const ZERO: Self = Self { key_values: Zero::ZERO, tiles: Zero::ZERO };
}

impl<L: ParallelLayer<D_MODEL>, const D_MODEL: usize, const N: usize> ParallelLayer<D_MODEL> for [L; N] {
    type ParallelScratch<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize> =
        L::ParallelScratch<SEQ_LEN, THREADS, TILE>;

    fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, L::Stream>,
        scratch: &mut L::ParallelScratch<SEQ_LEN, THREADS, TILE>,
    ) {
        for layer in self {
            layer.forward_parallel(x, scratch);
        }
    }
}

/// How many threads of the pool have a scratch.
fn threads<const THREADS: usize>() -> usize {
    const {
        if THREADS == 0 {
            crate::message::Message::new()
                .text("memory for ")
                .number(THREADS)
                .text(" threads: one works at least")
                .panic();
        }
    }
    rayon::current_num_threads().min(THREADS)
}
