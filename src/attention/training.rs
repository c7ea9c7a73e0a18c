//! Attention on the way forward with dropout, and on the way back.

use super::{Place, Projections};
use crate::{
    activation::Identity,
    dropout::Dropout,
    kernel::{Add, Epilogue, OuterProducts, PANEL, Product, Store, TransposedProduct},
    machine::{Machine, Work, dispatch},
    mask::visible,
    math,
    plain::Zero,
    tile::rows,
};
use core::marker::PhantomData;
use zerocopy::FromZeros;

/// An attention layer whose linear maps can be trained.
pub(crate) trait TrainableProjections<const D_MODEL: usize, const D_KV: usize>:
    Projections<D_MODEL, D_KV, Number = f32>
{
    type Gradient;

    /// To `dx` is added the gradient of x, given that of the queries.
    fn query_backward(
        &self,
        x: &[[f32; D_MODEL]],
        dy: &[[f32; D_MODEL]],
        dx: &mut [[f32; D_MODEL]],
        gradient: &mut Self::Gradient,
    );

    /// To `dx` is added the gradient of x, given that of the keys and values.
    fn key_value_backward(
        &self,
        x: &[[f32; D_MODEL]],
        dy: [&[[f32; D_KV]]; 2],
        dx: &mut [[f32; D_MODEL]],
        gradient: &mut Self::Gradient,
    );

    /// To `d_context` is added the gradient of the context, given that of the output.
    fn output_backward(&self, dy: &[[f32; D_MODEL]], d_context: &mut [[f32; D_MODEL]]);

    /// Adds to the gradient of W_O and b_O.
    fn output_gradient(&self, context: &[[f32; D_MODEL]], dy: &[[f32; D_MODEL]], gradient: &mut Self::Gradient);
}

/// Working memory of attention in training: keys, values and their gradients are as long as the sequence of keys, all else as long as a tile
/// of `TILE` queries.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct AttentionGradientScratch<
    const D_MODEL: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
> {
    keys: [[f32; D_KV]; SEQ_LEN],
    values: [[f32; D_KV]; SEQ_LEN],
    d_keys: [[f32; D_KV]; SEQ_LEN],
    d_values: [[f32; D_KV]; SEQ_LEN],
    /// The queries, and their gradients.
    query: [[f32; D_MODEL]; TILE],
    context: [[f32; D_MODEL]; TILE],
    d_context: [[f32; D_MODEL]; TILE],
    /// The weights of one head, what softmax makes of the scores.
    weights: [[f32; SEQ_LEN]; TILE],
    d_weights: [[f32; SEQ_LEN]; TILE],
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize> Zero
    for AttentionGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV>
{
    const ZERO: Self = Self {
        keys: Zero::ZERO,
        values: Zero::ZERO,
        d_keys: Zero::ZERO,
        d_values: Zero::ZERO,
        query: Zero::ZERO,
        context: Zero::ZERO,
        d_context: Zero::ZERO,
        weights: Zero::ZERO,
        d_weights: Zero::ZERO,
    };
}

/// Where the first token of a sequence stands.
const START: Place = Place { column: 0, before: 0 };

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize>
    AttentionGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV>
{
    /// Keys and values become those of the tokens `source`.
    fn look_at<A: Projections<D_MODEL, D_KV, Number = f32>>(&mut self, attention: &A, source: &[[f32; D_MODEL]]) {
        let keys = self.keys.get_mut(..source.len()).unwrap_or_default();
        attention.key(source, Store::<D_KV, Identity>::to(keys));
        A::ROTARY.rotate_rows(keys, START);
        attention.value(source, Store::<D_KV, Identity>::to(&mut self.values));
    }

    /// `out` becomes what attention makes of the tokens `x` that see the tokens `source`.
    pub(crate) fn forward<A: TrainableProjections<D_MODEL, D_KV>>(
        &mut self,
        attention: &A,
        x: &[[f32; D_MODEL]],
        source: &[[f32; D_MODEL]],
        out: &mut [[f32; D_MODEL]],
        dropout: Dropout,
    ) {
        self.look_at(attention, source);
        let rows = rows::<TILE>(x.len());
        for (i, (x, out)) in x.chunks(rows).zip(out.chunks_mut(rows)).enumerate() {
            let column = i * rows;
            self.look_up(attention, x, column);
            let context = self.context.get_mut(..x.len()).unwrap_or_default();
            dispatch(Heads {
                query: self.query.get_mut(..x.len()).unwrap_or_default(),
                context: &mut *context,
                weights: self.weights.get_mut(..x.len()).unwrap_or_default(),
                keys: &self.keys,
                values: &self.values,
                column,
                len: source.len(),
                dropout,
                back: None,
                of: PhantomData::<A>,
            });
            attention.output(context, Store::<D_MODEL, Identity>::to(out));
        }
    }

    /// Given the gradient of the output, `dy`: to `dx` is added that of the tokens `x`, to `d_source` that of the tokens `source`, `None` if
    /// those are the same, and to `gradient` that of the parameters.
    pub(crate) fn backward<A: TrainableProjections<D_MODEL, D_KV>>(
        &mut self,
        attention: &A,
        [x, dy]: [&[[f32; D_MODEL]]; 2],
        dx: &mut [[f32; D_MODEL]],
        (source, d_source): (&[[f32; D_MODEL]], Option<&mut [[f32; D_MODEL]]>),
        dropout: Dropout,
        gradient: &mut A::Gradient,
    ) {
        self.look_at(attention, source);
        self.d_keys.fill([0.0; D_KV]);
        self.d_values.fill([0.0; D_KV]);
        let rows = rows::<TILE>(x.len());
        for (i, ((x, dy), dx)) in x.chunks(rows).zip(dy.chunks(rows)).zip(dx.chunks_mut(rows)).enumerate() {
            let column = i * rows;
            self.look_up(attention, x, column);
            let d_context = self.d_context.get_mut(..x.len()).unwrap_or_default();
            d_context.fill([0.0; D_MODEL]);
            attention.output_backward(dy, d_context);
            let query = self.query.get_mut(..x.len()).unwrap_or_default();
            let context = self.context.get_mut(..x.len()).unwrap_or_default();
            dispatch(Heads {
                query: &mut *query,
                context: &mut *context,
                weights: self.weights.get_mut(..x.len()).unwrap_or_default(),
                keys: &self.keys,
                values: &self.values,
                column,
                len: source.len(),
                dropout,
                back: Some(Back {
                    context: d_context,
                    weights: self.d_weights.get_mut(..x.len()).unwrap_or_default(),
                    keys: &mut self.d_keys,
                    values: &mut self.d_values,
                }),
                of: PhantomData::<A>,
            });
            attention.output_gradient(context, dy, gradient);
            A::ROTARY.rotate_rows_back(query, Place { column, before: 0 });
            attention.query_backward(x, query, dx, gradient);
        }
        let d_keys = self.d_keys.get_mut(..source.len()).unwrap_or_default();
        A::ROTARY.rotate_rows_back(d_keys, START);
        let d_values = self.d_values.get(..source.len()).unwrap_or_default();
        let d_source = d_source.unwrap_or(dx);
        attention.key_value_backward(source, [d_keys, d_values], d_source, gradient);
    }

    /// Queries become those of a tile of tokens.
    fn look_up<A: Projections<D_MODEL, D_KV, Number = f32>>(
        &mut self,
        attention: &A,
        x: &[[f32; D_MODEL]],
        column: usize,
    ) {
        let query = self.query.get_mut(..x.len()).unwrap_or_default();
        attention.query(x, Store::<D_MODEL, Identity>::to(query));
        A::ROTARY.rotate_rows(query, Place { column, before: 0 });
    }
}

/// The heads of a tile of queries.
struct Heads<'a, P, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> {
    /// On the way back, replaced by their gradients.
    query: &'a mut [[f32; D_MODEL]],
    context: &'a mut [[f32; D_MODEL]],
    weights: &'a mut [[f32; SEQ_LEN]],
    keys: &'a [[f32; D_KV]; SEQ_LEN],
    values: &'a [[f32; D_KV]; SEQ_LEN],
    /// Of the first query, among the keys.
    column: usize,
    /// Tokens with keys and values.
    len: usize,
    dropout: Dropout,
    back: Option<Back<'a, D_MODEL, D_KV, SEQ_LEN>>,
    of: PhantomData<P>,
}

/// What the way back has besides: the gradients.
struct Back<'a, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> {
    context: &'a [[f32; D_MODEL]],
    weights: &'a mut [[f32; SEQ_LEN]],
    keys: &'a mut [[f32; D_KV]; SEQ_LEN],
    values: &'a mut [[f32; D_KV]; SEQ_LEN],
}

impl<P, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize> Work for Heads<'_, P, D_MODEL, D_KV, SEQ_LEN>
where
    P: Projections<D_MODEL, D_KV, Number = f32>,
{
    type Output = ();

    /// With the weights A = softmax(τ q Kᵀ), of which dropout leaves Ã, and the context c = Ã V: ∂V = Ãᵀ ∂c; ∂Ã = ∂c Vᵀ, of which the same
    /// dropout leaves ∂A; the gradient of the scores q Kᵀ is S = τ A ⊙ (∂A - Σ A ⊙ ∂A), row by row; ∂K = Sᵀ q, ∂q = S K.
    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { query, context, weights, keys, values, column, len, dropout, mut back, .. } = self;
        let seen = visible::<P::Mask>(column + query.len().saturating_sub(1), len).min(SEQ_LEN);
        let (keys, values) = (keys.as_flattened(), values.as_flattened());
        for head in 0..D_MODEL / P::D_HEAD.max(1) {
            let dropout = dropout.part(head as u64);
            let own = head * P::D_HEAD..(head + 1) * P::D_HEAD;
            let shared = head / P::GROUP.max(1) * P::D_HEAD;
            clear(weights, seen);
            transposed(m, query, own.clone(), keys, shared, D_KV, seen, &mut Add(weights));
            for (row, weights) in weights.iter_mut().enumerate() {
                let visible = visible::<P::Mask>(column + row, len).min(seen);
                let (visible, masked) = weights.split_at_mut_checked(visible).unwrap_or_default();
                let scale = math::softmax_row(m, visible, P::TEMPERATURE);
                visible.iter_mut().for_each(|weight| *weight *= scale);
                masked.iter_mut().take(seen - visible.len()).for_each(|weight| *weight = 0.0);
            }
            if let Some(Back { context: d_context, weights: d_weights, .. }) = &mut back {
                clear(d_weights, seen);
                transposed(m, d_context, own.clone(), values, shared, D_KV, seen, &mut Add(d_weights));
                dropout.apply(d_weights, column);
                for (d, weights) in d_weights.iter_mut().zip(&*weights) {
                    let d = d.get_mut(..seen).unwrap_or_default();
                    softmax_backward(m, weights.get(..seen).unwrap_or_default(), d, P::TEMPERATURE);
                }
            }
            dropout.apply(weights, column);
            let store = &mut Store::<D_MODEL, Identity>::to(context);
            product::<_, D_KV, SEQ_LEN>(m, weights, values, shared, P::D_HEAD, seen, own.start, store);
            if let Some(Back { context: d_context, weights: d_weights, keys: d_keys, values: d_values }) = &mut back {
                let (from, columns) = (own.start, P::D_HEAD);
                let d_values = d_values.as_flattened_mut().get_mut(shared..).unwrap_or_default();
                OuterProducts { x: weights, inputs: 0..seen, y: d_context, from, columns }.add_to(m, d_values, D_KV);
                let d_keys = d_keys.as_flattened_mut().get_mut(shared..).unwrap_or_default();
                OuterProducts { x: d_weights, inputs: 0..seen, y: query, from, columns }.add_to(m, d_keys, D_KV);
                let store = &mut Store::<D_MODEL, Identity>::to(query);
                product::<_, D_KV, SEQ_LEN>(m, d_weights, keys, shared, P::D_HEAD, seen, own.start, store);
            }
        }
    }
}

/// The first `seen` numbers of each row become 0.
#[inline(always)]
fn clear<const SEQ_LEN: usize>(rows: &mut [[f32; SEQ_LEN]], seen: usize) {
    rows.iter_mut().for_each(|row| row.get_mut(..seen).unwrap_or_default().fill(0.0));
}

/// The head `inputs` of each row of `x`, times that of `seen` tokens in `w` which begins with the column `shared`.
#[expect(clippy::too_many_arguments, reason = "those of `TransposedProduct`")]
#[inline(always)]
fn transposed<M: Machine, const D: usize>(
    m: M,
    x: &[[f32; D]],
    inputs: core::ops::Range<usize>,
    w: &[f32],
    shared: usize,
    stride: usize,
    seen: usize,
    epilogue: &mut impl Epilogue,
) {
    let w = w.get(shared..).unwrap_or_default();
    TransposedProduct { x, inputs, w, stride, panel: PANEL, rows: seen }.run(m, epilogue);
}

/// The first `seen` numbers of each row of `x`, times the `columns` columns of `w` from `from` on; those of the result begin with `first`.
#[expect(clippy::too_many_arguments, reason = "those of `Product`")]
#[inline(always)]
fn product<M: Machine, const D_KV: usize, const SEQ_LEN: usize>(
    m: M,
    x: &[[f32; SEQ_LEN]],
    w: &[f32],
    from: usize,
    columns: usize,
    seen: usize,
    first: usize,
    epilogue: &mut impl Epilogue,
) {
    let w = w.get(..seen * D_KV).unwrap_or_default();
    let product = Product::<_, D_KV> { x, inputs: 0..seen, w, stride: D_KV.max(1), from, columns, first, next: &[] };
    product.run(m, epilogue);
}

/// d becomes τ y ⊙ (d - Σ y ⊙ d): from the gradient of the softmax y to that of the scores.
#[inline(always)]
fn softmax_backward<M: Machine>(m: M, y: &[f32], d: &mut [f32], temperature: f32) {
    let mut sums = m.splat(0.0);
    for (y, d) in y.chunks(M::LANES).zip(d.chunks(M::LANES)) {
        sums = m.mul_add(m.load(y), m.load(d), sums);
    }
    let (sum, temperature) = (m.splat(m.sum_lanes(sums)), m.splat(temperature));
    for (y, d) in y.chunks(M::LANES).zip(d.chunks_mut(M::LANES)) {
        m.store(m.mul(m.mul(temperature, m.load(y)), m.sub(m.load(d), sum)), d);
    }
}
