//! A Pre-LN decoder with nalgebra: keys and values of earlier tokens are columns of matrices that have room for more.

use super::{Past, Peer, nalgebra::activation};
use crate::{
    shape::Shape,
    weights::{Linear, Norm, Weights},
};
use nalgebra::{DMatrix, DMatrixViewMut, DVector};

struct Map {
    weight: DMatrix<f32>,
    bias: DVector<f32>,
}

impl Map {
    fn new(map: Linear) -> Self {
        let weight = DMatrix::from_row_slice(map.outputs, map.inputs, &map.weight);
        Self { weight, bias: DVector::from_vec(map.bias) }
    }

    fn forward(&self, x: &DMatrix<f32>, mut y: DMatrixViewMut<'_, f32>) {
        for mut column in y.column_iter_mut() {
            column.copy_from(&self.bias);
        }
        y.gemm(1.0, &self.weight, x, 1.0);
    }
}

struct Layer {
    query: Map,
    key: Map,
    value: Map,
    output: Map,
    attention_norm: Norm,
    inner: Map,
    outer: Map,
    feed_forward_norm: Norm,
    keys: DMatrix<f32>,
    values: DMatrix<f32>,
}

/// Working memory for some tokens.
struct Scratch {
    stream: DMatrix<f32>,
    input: DMatrix<f32>,
    query: DMatrix<f32>,
    context: DMatrix<f32>,
    hidden: DMatrix<f32>,
    scores: DVector<f32>,
}

impl Scratch {
    fn new(shape: &Shape, tokens: usize) -> Self {
        let zeros = || DMatrix::zeros(shape.d_model, tokens);
        let scores = DVector::zeros(shape.past + shape.tokens);
        let hidden = DMatrix::zeros(shape.d_ff, tokens);
        Self { stream: zeros(), input: zeros(), query: zeros(), context: zeros(), hidden, scores }
    }
}

/// The decoder, which remembers the past of its workload.
pub(super) struct Decoder {
    shape: Shape,
    layers: Vec<Layer>,
    scratch: Scratch,
    input: Vec<f32>,
}

impl Decoder {
    pub(super) fn load(shape: &Shape) -> Self {
        assert!(shape.norm_first && !shape.final_norm, "blocks are Pre-LN, and there is no final norm");
        let room = || DMatrix::zeros(shape.d_model, shape.past + shape.tokens);
        let layers = Weights::new(shape).map(|block| Layer {
            query: Map::new(block.query),
            key: Map::new(block.key),
            value: Map::new(block.value),
            output: Map::new(block.output),
            attention_norm: block.attention_norm,
            inner: Map::new(block.inner),
            outer: Map::new(block.outer),
            feed_forward_norm: block.feed_forward_norm,
            keys: room(),
            values: room(),
        });
        let layers = layers.collect();
        let scratch = Scratch::new(shape, shape.tokens);
        let mut decoder = Self { shape: *shape, layers, scratch, input: Weights::tokens(shape) };
        let mut scratch = Scratch::new(shape, shape.past);
        scratch.stream.copy_from_slice(&Weights::past(shape));
        decoder.extend(&mut scratch, 0);
        decoder
    }

    /// Keys and values of the past.
    pub(super) fn past(&self) -> Past {
        let of = |matrix: &DMatrix<f32>| matrix.columns(0, self.shape.past).iter().copied().collect();
        self.layers.iter().map(|layer| [of(&layer.keys), of(&layer.values)]).collect::<Vec<_>>().into()
    }

    /// Takes the tokens in the stream, which come after `past` others.
    fn extend(&mut self, s: &mut Scratch, past: usize) {
        let activation = activation(self.shape.activation);
        let tokens = s.stream.ncols();
        for layer in &mut self.layers {
            norm(&s.stream, &layer.attention_norm, self.shape.epsilon, &mut s.input);
            layer.query.forward(&s.input, s.query.as_view_mut());
            layer.key.forward(&s.input, layer.keys.columns_mut(past, tokens).as_view_mut());
            layer.value.forward(&s.input, layer.values.columns_mut(past, tokens).as_view_mut());
            for token in 0..tokens {
                attend(&self.shape, layer, &s.query, token, past + token + 1, &mut s.scores, &mut s.context);
            }
            layer.output.forward(&s.context, s.input.as_view_mut());
            s.stream += &s.input;

            norm(&s.stream, &layer.feed_forward_norm, self.shape.epsilon, &mut s.input);
            layer.inner.forward(&s.input, s.hidden.as_view_mut());
            s.hidden.apply(|x| *x = activation(*x));
            layer.outer.forward(&s.hidden, s.input.as_view_mut());
            s.stream += &s.input;
        }
    }
}

/// The context of one token, which sees `seen`.
fn attend(
    shape: &Shape,
    layer: &Layer,
    query: &DMatrix<f32>,
    token: usize,
    seen: usize,
    scores: &mut DVector<f32>,
    context: &mut DMatrix<f32>,
) {
    let d_head = shape.d_head();
    for row in (0..shape.heads).map(|head| head * d_head) {
        let mut scores = scores.rows_mut(0, seen);
        let query = query.view((row, token), (d_head, 1));
        scores.gemv_tr(shape.scale(), &layer.keys.view((row, 0), (d_head, seen)), &query.column(0), 0.0);
        let max = scores.max();
        scores.apply(|x| *x = (*x - max).exp());
        scores *= 1.0 / scores.sum();
        let values = layer.values.view((row, 0), (d_head, seen));
        context.view_mut((row, token), (d_head, 1)).column_mut(0).gemv(1.0, &values, &scores, 0.0);
    }
}

fn norm(x: &DMatrix<f32>, norm: &Norm, epsilon: f32, y: &mut DMatrix<f32>) {
    y.copy_from(x);
    for mut token in y.column_iter_mut() {
        let mean = token.mean();
        token.add_scalar_mut(-mean);
        let scale = 1.0 / (token.norm_squared() / token.len() as f32 + epsilon).sqrt();
        for ((x, weight), bias) in token.iter_mut().zip(&norm.weight).zip(&norm.bias) {
            *x = *x * scale * weight + bias;
        }
    }
}

impl Peer for Decoder {
    fn forward(&mut self) {
        let mut scratch = std::mem::replace(&mut self.scratch, Scratch::new(&Shape { past: 0, ..self.shape }, 0));
        scratch.stream.copy_from_slice(&self.input);
        self.extend(&mut scratch, self.shape.past);
        self.scratch = scratch;
    }

    fn output(&mut self) -> Vec<f32> {
        self.scratch.stream.as_slice().to_vec()
    }
}
