//! Batches on several threads.

use super::threads;
use crate::{layer::Layer, sequence::Sequence};

/// As [`Layer::forward_batch`], on the threads of the rayon pool that it is called in: at most one for each of the `scratches`
///
/// Each thread has a share of the sequences, which it takes through the layer as `forward_batch` does. Neighbours stay together,
/// and the shares have about as many multiply-adds, so the order of the lengths does not matter much. The outputs are those of one
/// thread, bit for bit.
///
/// ```
/// use constformer::{Bert, Encoder, Scratch, Sequence, boxed, forward_batch_parallel};
///
/// let encoder = boxed::<Encoder<Bert, 2, 64, 256, 4>>();
/// let mut scratches = boxed::<[Scratch<64, 256, 32>; 8]>(); // D_MODEL, D_FF, SEQ_LEN; for 8 threads
/// let mut batch = vec![Sequence::<64, 32>::from(nalgebra::SMatrix::repeat(1.0)); 20];
/// forward_batch_parallel(&*encoder, &mut batch, &mut scratches);
/// ```
pub fn forward_batch_parallel<
    L: Layer<D_MODEL>,
    const D_MODEL: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    const THREADS: usize,
>(
    layer: &L,
    batch: &mut [Sequence<D_MODEL, SEQ_LEN, L::Stream>],
    scratches: &mut [L::Scratch<SEQ_LEN, TILE>; THREADS],
) where
    L::Scratch<SEQ_LEN, TILE>: Send,
{
    let scratches = scratches.get_mut(..threads::<THREADS>()).unwrap_or_default();
    share_out(layer, batch, scratches);
}

/// Shares the batch out, half by half.
fn share_out<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &L,
    batch: &mut [Sequence<D_MODEL, SEQ_LEN, L::Stream>],
    scratches: &mut [L::Scratch<SEQ_LEN, TILE>],
) where
    L::Scratch<SEQ_LEN, TILE>: Send,
{
    if let [scratch] = scratches {
        return layer.forward_batch(batch, scratch);
    }
    if batch.is_empty() {
        return;
    }
    let (threads, half) = (scratches.len(), scratches.len() / 2);
    let (first, second) = batch.split_at_mut(split::<L, D_MODEL, SEQ_LEN>(batch, half, threads));
    let (for_first, for_second) = scratches.split_at_mut(half);
    rayon::join(|| share_out(layer, first, for_first), || share_out(layer, second, for_second));
}

/// How many sequences from the first on have about `part` / `whole` of the multiply-adds.
fn split<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>(
    batch: &[Sequence<D_MODEL, SEQ_LEN, L::Stream>],
    part: usize,
    whole: usize,
) -> usize {
    let costs = || batch.iter().map(|x| u128::from(L::MACS.total(x.len())));
    let wanted = 2 * costs().sum::<u128>() * part as u128;
    let mut before = 0;
    let middles = costs().map(|cost| {
        before += cost;
        (2 * before - cost) * whole as u128
    });
    middles.take_while(|middle| *middle <= wanted).count()
}
