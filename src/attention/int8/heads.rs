//! The heads of a tile of tokens: scores, softmax, context, token by token.

use super::{
    super::{Projections, observed::see},
    Heads, KeyValues,
};
use crate::{
    kernel::{
        PANEL,
        integer::{HIGHEST_OF_ATTENTION, Row, scaled},
    },
    machine::{LaneWork, Lanes},
    mask::visible,
    number::Number,
    observe::{Observer, Watch},
    plain::Zero,
};
use core::{array::from_ref, marker::PhantomData};

/// Replaces the queries of a tile of tokens by their context.
pub(super) struct Attend<'a, N, P, O, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> {
    pub(super) query: &'a mut [[N; D_MODEL]],
    pub(super) heads: &'a mut Heads<SEQ_LEN, N>,
    pub(super) key_values: &'a KeyValues<D_KV, SEQ_LEN>,
    /// Of the first query, among the keys.
    pub(super) column: usize,
    /// Tokens with keys and values.
    pub(super) len: usize,
    pub(super) of: PhantomData<P>,
    pub(super) watch: Watch<'a, O>,
}

impl<N: Number, P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> LaneWork<N>
    for Attend<'_, N, P, O, D_MODEL, D_KV, SEQ_LEN>
where
    P: Projections<D_MODEL, D_KV, Number = N>,
{
    #[inline(always)]
    fn run<L: Lanes<Number = N>>(self, l: L) {
        let Self { query, heads: Heads { scores, weights }, key_values, column, len, mut watch, .. } = self;
        const { (Row::<D_MODEL>::assert_sums_fit(), Row::<SEQ_LEN>::assert_sums_fit()) };
        let mut integers = Row::<D_MODEL>::ZERO;
        let temperature = P::TEMPERATURE;
        for (row, token) in query.iter_mut().enumerate() {
            let (column, watch) = (column + row, &mut watch.further(row));
            let seen = visible::<P::Mask>(column, len).min(SEQ_LEN);
            for (head, query) in token.chunks_exact_mut(P::D_HEAD.max(1)).enumerate() {
                let shared = head / P::GROUP.max(1) * P::D_HEAD;
                let scale = integers.quantize::<N, HIGHEST_OF_ATTENTION>(query, N::greatest_magnitude(query));
                key_values.scores(&integers, scale, shared, scores.get_mut(..seen).unwrap_or_default(), query.len());
                let shown = |_, x: N| x.to_f32() * temperature;
                see::<P::Mask, _, _, _>(watch, "scores", head, from_ref(scores), [column, len], shown);
                let of_row = l.softmax_row(scores.get_mut(..seen).unwrap_or_default(), temperature);
                let shown = |_, x: N| x.weight(of_row);
                see::<P::Mask, _, _, _>(watch, "weights", head, from_ref(scores), [column, len], shown);
                key_values.context(weights, of_row, shared, scores.get_mut(..seen).unwrap_or_default(), query);
            }
        }
    }
}

impl<const D_KV: usize, const SEQ_LEN: usize> KeyValues<D_KV, SEQ_LEN> {
    /// The scores of a query of `count` columns with the keys' columns from `from` on.
    #[inline(always)]
    fn scores<N: Number, const D: usize>(
        &self,
        query: &Row<D>,
        scale: N::Factor,
        from: usize,
        scores: &mut [N],
        count: usize,
    ) {
        let (fours, rest) = scores.as_chunks_mut::<4>();
        let ((keys, scales), done) =
            ((self.keys.as_chunks::<4>().0, self.key_scales.as_chunks::<4>().0), 4 * fours.len());
        for ((scores, keys), scales) in fours.iter_mut().zip(keys).zip(scales) {
            *scores = scaled(query.four_dots(0, keys, from, count), scale, scales.map(N::factor));
        }
        for ((score, key), of_key) in
            rest.iter_mut().zip(self.keys.iter().skip(done)).zip(self.key_scales.iter().skip(done))
        {
            let sum = query.dot(0, key.get(from..from + count).unwrap_or_default());
            *score = N::product(sum, N::times(scale, N::factor(*of_key)));
        }
    }

    /// The sum of the values' columns from `from` on, times the weights of their tokens and `scale`.
    #[inline(always)]
    fn context<N: Number, const D: usize>(
        &self,
        integers: &mut Row<D>,
        scale: N::Factor,
        from: usize,
        weights: &mut [N],
        context: &mut [N],
    ) {
        let (greatest, unit) = N::weigh(weights, &self.value_scales);
        let of_weights = integers.quantize::<N, HIGHEST_OF_ATTENTION>(weights, greatest);
        let scale = N::times(N::times(scale, unit), of_weights);
        let values = self.values.as_flattened();
        let panels = || values.chunks(D_KV.max(1) * PANEL).zip((0..weights.len()).step_by(PANEL));
        for (context, column) in context.chunks_mut(4).zip((from..).step_by(4)) {
            let mut sums = [0i32; 4];
            for (panel, first) in panels() {
                let (width, seen) = (panel.len() / D_KV.max(1), PANEL.min(weights.len() - first));
                let rows = panel.as_chunks::<PANEL>().0.get(column..).and_then(|rows| rows.first_chunk());
                if let (Some(rows), true, 4) = (rows, width == PANEL, context.len()) {
                    let more = integers.four_dots(first, rows, 0, seen);
                    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
                } else {
                    for (sum, column) in sums.iter_mut().zip(column..).take(context.len()) {
                        let row = panel.get(column * width..column * width + seen).unwrap_or_default();
                        *sum = sum.wrapping_add(integers.dot(first, row));
                    }
                }
            }
            context.iter_mut().zip(sums).for_each(|(context, sum)| *context = N::product(sum, scale));
        }
    }
}
