//! The heads of a tile of tokens: scores, softmax, context.

use super::{
    super::{Projections, observed::see},
    KeyValues,
};
use crate::{
    activation::Identity,
    kernel::{PANEL, Product, ScaleRows, Store},
    machine::{Machine, Work},
    mask::visible,
    math,
    observe::{Observer, Watch},
};
use core::marker::PhantomData;

/// Replaces the queries of a tile of tokens by their context.
pub(super) struct Attend<'a, P, O, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> {
    pub(super) query: &'a mut [[f32; D_MODEL]],
    pub(super) scores: &'a mut [[f32; SEQ_LEN]],
    pub(super) scale: &'a mut [f32],
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
    P: Projections<D_MODEL, D_KV, Number = f32>,
{
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { query, scores, scale, key_values, column, len, mut watch, .. } = self;
        let KeyValues { keys, values } = key_values;
        let temperature = P::TEMPERATURE;
        // What the last query sees, all see or have masked.
        let seen = visible::<P::Mask>(column + query.len().saturating_sub(1), len).min(SEQ_LEN);
        for head in 0..D_MODEL / P::D_HEAD.max(1) {
            let inputs = head * P::D_HEAD..(head + 1) * P::D_HEAD;
            let shared = head / P::GROUP.max(1) * P::D_HEAD;
            for (panel, first) in keys.panels().zip((0..seen).step_by(PANEL)) {
                let w = panel.numbers.get(shared * panel.width..(shared + P::D_HEAD) * panel.width).unwrap_or_default();
                let (x, inputs, columns) = (&*query, inputs.clone(), panel.width.min(seen - first));
                let stride = panel.width.max(1);
                let product = Product::<_, PANEL> { x, inputs, w, stride, from: 0, columns, first, next: &[] };
                let store = &mut Store::<SEQ_LEN, Identity>::to(scores);
                if const { SEQ_LEN > M::LANES } {
                    product.run(m, store);
                } else {
                    product.strips::<M, 1>(m, store);
                }
            }
            see::<P::Mask, _, _, _>(&mut watch, "scores", head, scores, [column, len], |_, x| x * temperature);
            for (row, (scores, scale)) in scores.iter_mut().zip(&mut *scale).enumerate() {
                let visible = visible::<P::Mask>(column + row, len).min(seen);
                let (visible, masked) = scores.split_at_mut_checked(visible).unwrap_or_default();
                *scale = math::softmax_row(m, visible, temperature);
                masked.iter_mut().take(seen - visible.len()).for_each(|score| *score = 0.0);
            }
            let w = values.as_flattened().get(..seen * D_KV).unwrap_or_default();
            let (x, stride, columns, first) = (&*scores, D_KV.max(1), P::D_HEAD, inputs.start);
            let product = Product::<_, D_KV> { x, inputs: 0..seen, w, stride, from: shared, columns, first, next: &[] };
            let context = &mut ScaleRows { out: query, scale };
            if const { P::D_HEAD > M::LANES } {
                product.run(m, context);
            } else {
                product.strips::<M, 1>(m, context);
            }
            see::<P::Mask, _, _, _>(&mut watch, "weights", head, scores, [column, len], |row, x| {
                x * scale.get(row).copied().unwrap_or(0.0)
            });
        }
    }
}
