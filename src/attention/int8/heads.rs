//! The heads of a tile of tokens: scores, softmax, context, token by token.

use super::{
    super::{Projections, observed::see},
    Heads, KeyValues,
};
use crate::{
    kernel::{PANEL, integer::Row},
    machine::{Machine, Work},
    mask::visible,
    math,
    observe::{Observer, Watch},
    plain::Zero,
};
use core::{array::from_ref, marker::PhantomData};

/// Replaces the queries of a tile of tokens by their context.
pub(super) struct Attend<'a, P, O, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> {
    pub(super) query: &'a mut [[f32; D_MODEL]],
    pub(super) heads: &'a mut Heads<SEQ_LEN>,
    pub(super) key_values: &'a KeyValues<D_KV, SEQ_LEN>,
    /// Of the first query, among the keys.
    pub(super) column: usize,
    /// Tokens with keys and values.
    pub(super) len: usize,
    pub(super) of: PhantomData<P>,
    pub(super) watch: Watch<'a, O>,
}

impl<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> Work
    for Attend<'_, P, O, D_MODEL, D_KV, SEQ_LEN>
where
    P: Projections<D_MODEL, D_KV>,
{
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { query, heads: Heads { scores, weights }, key_values, column, len, mut watch, .. } = self;
        let mut integers = Row::<D_MODEL>::ZERO;
        let temperature = 1.0 / math::sqrt(P::D_HEAD as f32);
        for (row, token) in query.iter_mut().enumerate() {
            let (column, watch) = (column + row, &mut watch.further(row));
            let seen = visible::<P::Mask>(column, len).min(SEQ_LEN);
            for (head, query) in token.chunks_exact_mut(P::D_HEAD.max(1)).enumerate() {
                let shared = head / P::GROUP.max(1) * P::D_HEAD;
                let scale = integers.quantize(query);
                key_values.scores(&integers, scale, shared, scores.get_mut(..seen).unwrap_or_default(), query.len());
                see::<P::Mask, _, _>(watch, "scores", head, from_ref(scores), [column, len], |_| temperature);
                let seen = scores.get_mut(..seen).unwrap_or_default();
                let of_row = math::softmax_row(m, seen, temperature);
                see::<P::Mask, _, _>(watch, "weights", head, from_ref(scores), [column, len], |_| of_row);
                let seen = scores.get_mut(..visible::<P::Mask>(column, len).min(SEQ_LEN)).unwrap_or_default();
                key_values.context(weights, of_row, shared, seen, query);
            }
        }
    }
}

impl<const D_KV: usize, const SEQ_LEN: usize> KeyValues<D_KV, SEQ_LEN> {
    /// The scores of a query of `count` columns with the keys' columns from `from` on.
    #[inline(always)]
    fn scores<const N: usize>(&self, query: &Row<N>, scale: f32, from: usize, scores: &mut [f32], count: usize) {
        let columns = from..from + count;
        let keys = self.keys.chunks(2).zip(self.key_scales.chunks(2));
        for (scores, (keys, scales)) in scores.chunks_mut(2).zip(keys) {
            // An odd one is its own neighbour.
            let ([one, ..], Some(other)) = (keys, keys.last()) else { return };
            let sums = query.two_dots(0, [one, other].map(|key| key.get(columns.clone()).unwrap_or_default()));
            for ((score, sum), of_key) in scores.iter_mut().zip(sums).zip(scales) {
                *score = sum as f32 * (scale * of_key);
            }
        }
    }

    /// The sum of the values' columns from `from` on, times the weights of their tokens and `scale`.
    #[inline(always)]
    fn context<const N: usize>(
        &self,
        integers: &mut Row<N>,
        scale: f32,
        from: usize,
        weights: &mut [f32],
        context: &mut [f32],
    ) {
        for (weight, of_value) in weights.iter_mut().zip(&self.value_scales) {
            *weight *= of_value;
        }
        let scale = scale * integers.quantize(weights);
        let values = self.values.as_flattened();
        let mut column = from;
        for context in context.chunks_mut(2) {
            let (mut a, mut b) = (0, 0);
            for first in (0..weights.len()).step_by(PANEL) {
                let (width, seen) = (PANEL.min(SEQ_LEN - first), PANEL.min(weights.len() - first));
                let panel = values.get(first * D_KV + column * width..).unwrap_or_default();
                let one = panel.get(..seen).unwrap_or_default();
                let other = panel.get(width..width + seen).unwrap_or(one);
                let [of_one, of_other] = integers.two_dots(first, [one, other]);
                (a, b) = (a + of_one, b + of_other);
            }
            context.iter_mut().zip([a, b]).for_each(|(context, sum)| *context = sum as f32 * scale);
            column += 2;
        }
    }
}
