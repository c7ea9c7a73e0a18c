//! The heads of a tile of tokens: scores, softmax, context.

use super::KeyValues;
use crate::{
    activation::Identity,
    kernel::{Product, ScaleRows, Store},
    machine::{Machine, Work},
    mask::{Mask, visible},
    math,
};
use core::marker::PhantomData;

/// Replaces the queries of a tile of tokens by their context.
pub(super) struct Attend<'a, K, const D_MODEL: usize, const SEQ_LEN: usize> {
    pub(super) query: &'a mut [[f32; D_MODEL]],
    pub(super) scores: &'a mut [[f32; SEQ_LEN]],
    pub(super) scale: &'a mut [f32],
    pub(super) key_values: &'a KeyValues<D_MODEL, SEQ_LEN>,
    /// Of the first query.
    pub(super) position: usize,
    /// Tokens with keys and values.
    pub(super) len: usize,
    pub(super) d_head: usize,
    pub(super) mask: PhantomData<K>,
}

impl<K: Mask, const D_MODEL: usize, const SEQ_LEN: usize> Work for Attend<'_, K, D_MODEL, SEQ_LEN> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { query, scores, scale, key_values, position, len, d_head, .. } = self;
        let KeyValues { keys, values } = key_values;
        let temperature = 1.0 / math::sqrt(d_head as f32);
        // What the last query sees, all see or have masked.
        let seen = visible::<K>(position + query.len().saturating_sub(1), len).min(SEQ_LEN);
        for (head, keys) in keys.chunks_exact(d_head.max(1)).enumerate() {
            let columns = head * d_head..(head + 1) * d_head;
            Product { x: query, inputs: columns.clone(), w: keys, columns: 0..seen, first: 0 }
                .run::<M, false>(m, &mut Store::<SEQ_LEN, Identity>::to(scores));
            for (row, (scores, scale)) in scores.iter_mut().zip(&mut *scale).enumerate() {
                let (visible, masked) = scores.split_at_mut(visible::<K>(position + row, len).min(seen));
                *scale = math::softmax_row(m, visible, temperature);
                masked.iter_mut().take(seen - visible.len()).for_each(|score| *score = 0.0);
            }
            let w = values.get(..seen).unwrap_or_default();
            Product { x: scores, inputs: 0..seen, w, first: columns.start, columns }
                .run::<M, false>(m, &mut ScaleRows { out: query, scale });
        }
    }
}
