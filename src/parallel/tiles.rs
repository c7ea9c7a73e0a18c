//! A block on several threads: they meet when all keys and values are there, and when all tiles are done.

use super::{ParallelScratch, threads};
use crate::{
    attention::{KeyValueFormat, Place, Projections},
    feed_forward::PositionWise,
    kernel::PANEL,
    norm::Norm,
    observe::{Unobserved, Watch},
    parameters::Name,
    residual::Placement,
    sequence::Sequence,
    sub_layers::{Remembered, SubLayers, TileScratch},
    tile::rows,
    token_format::ComputedIn,
};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use std::sync::{Mutex, PoisonError};

impl<P: Placement, A, N, W> SubLayers<'_, P, A, N, W> {
    /// As [`forward`](Self::forward), on the threads of the pool that have a scratch.
    pub(super) fn forward_parallel<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const THREADS: usize,
        const TILE: usize,
        const D_KV: usize,
    >(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, A::Stream>,
        scratch: &mut ParallelScratch<D_MODEL, D_FF, SEQ_LEN, THREADS, TILE, D_KV, A::KeyValues, A::Stream, A::Number>,
    ) where
        A: Projections<D_MODEL, D_KV> + Sync,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF, Number = A::Number>,
    {
        let ParallelScratch { key_values, tiles } = scratch;
        let threads = threads::<THREADS>();
        // Few rows cost as much as eight.
        let share = x.len().div_ceil(threads).next_multiple_of(8);
        let Some((first, _)) = tiles.split_first_mut() else { return };
        if share >= x.len() {
            let nobody = &mut Unobserved;
            let watch = &mut Watch::new(&Name::ROOT, nobody);
            return self.extend(x.stored_mut(), Remembered::default(), key_values, first, watch, |_, _, _| ());
        }
        let tiles = tiles.get_mut(..threads).unwrap_or_default();

        let panels = x.stored_mut().chunks_mut(PANEL).zip(A::KeyValues::panels_mut(key_values)).enumerate();
        hand_out(panels, tiles, |(panel, (x, mut key_values)), scratch| {
            let rows = rows::<TILE>(x.len());
            for (i, x) in x.chunks_mut(rows).enumerate() {
                let TileScratch { tokens, work } = &mut *scratch;
                let x = A::Stream::tile(x, tokens);
                let place = Place { column: panel * PANEL + i * rows, before: 0 };
                let nobody = &mut Unobserved;
                let watch = &mut Watch::new(&Name::ROOT, nobody);
                self.remember(x.tokens, place, &mut key_values, work, watch);
            }
        });

        let (len, rows, key_values) = (x.len(), rows::<TILE>(share), &*key_values);
        let shares = x.stored_mut().chunks_mut(share).zip((0..).step_by(share));
        let parts = shares.flat_map(|(x, first)| x.chunks_mut(rows).zip((first..).step_by(rows)));
        hand_out(parts, tiles, |(x, column), scratch| {
            let nobody = &mut Unobserved;
            let watch = &mut Watch::new(&Name::ROOT, nobody);
            let TileScratch { tokens, work } = scratch;
            let x = A::Stream::tile(x, tokens);
            self.tile(x.tokens, Place { column, before: 0 }, work, watch, |_, _, _| (key_values, len), |_, _, _| ());
            x.store();
        });
    }
}

/// Does all of the work on as many threads as there are scratches. Whoever is done with a piece takes the next one, so that a
/// thread that is slow, or late, holds up no other.
fn hand_out<I, S>(pieces: I, scratches: &mut [S], work: impl Fn(I::Item, &mut S) + Sync)
where
    I: Iterator + Send,
    S: Send,
{
    let pieces = Mutex::new(pieces);
    scratches.par_iter_mut().with_max_len(1).for_each(|scratch| {
        while let Some(piece) = next(&pieces) {
            work(piece, scratch);
        }
    });
}

/// A function of its own, so that the lock is not held during the work.
fn next<I: Iterator>(pieces: &Mutex<I>) -> Option<I::Item> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner).next()
}
