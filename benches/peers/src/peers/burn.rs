//! burn: its backend `flex`, which its authors advise for processors, with SIMD and AVX-512 (`x86-v4`); its fused functions for
//! attention and norm.
//!
//! The cache is a tensor with room for more tokens, written to in place: burn-nn's own cache copies all of it at each token.

use super::{Past, Peer};
use crate::{
    shape::{Activation, Shape},
    weights::{self, Weights},
    workload::Workload,
};
use burn::tensor::{
    Device, Tensor, TensorData, activation,
    module::{attention, layer_norm, linear},
    ops::AttentionModuleOptions,
};

/// Tokens that the cache has room for.
const CAPACITY: usize = 512;

struct Linear {
    weight: Tensor<2>,
    bias: Tensor<1>,
}

impl Linear {
    fn new(map: weights::Linear, device: &Device) -> Self {
        let weight = TensorData::new(map.transposed(), [map.inputs, map.outputs]);
        let bias = TensorData::new(map.bias, [map.outputs]);
        Self { weight: Tensor::from_data(weight, device), bias: Tensor::from_data(bias, device) }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        linear(x, self.weight.clone(), Some(self.bias.clone()))
    }
}

struct Norm {
    weight: Tensor<1>,
    bias: Tensor<1>,
    epsilon: f64,
}

impl Norm {
    fn new(norm: weights::Norm, epsilon: f32, device: &Device) -> Self {
        let vector = |values: Vec<f32>| Tensor::from_data(TensorData::new(values, [norm.weight.len()]), device);
        Self { bias: vector(norm.bias), weight: vector(norm.weight.clone()), epsilon: epsilon.into() }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        layer_norm(x, self.weight.clone(), Some(self.bias.clone()), self.epsilon)
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    inner: Linear,
    outer: Linear,
    feed_forward_norm: Norm,
    cache: Option<[Tensor<4>; 2]>,
}

struct BurnPeer {
    shape: Shape,
    layers: Vec<Layer>,
    final_norm: Option<Norm>,
    input: Tensor<3>,
    output: Option<Tensor<3>>,
}

/// A stack.
pub(super) fn load(workload: &Workload, past: &Past) -> Box<dyn Peer> {
    let shape = workload.shape;
    let device = Device::flex();
    let linear = |map| Linear::new(map, &device);
    let norm = |norm| Norm::new(norm, shape.epsilon, &device);
    let room = |values: &Vec<f32>| {
        let heads = TensorData::new(values.clone(), [1, shape.past, shape.heads, shape.d_head()]);
        let heads = Tensor::<4>::from_data(heads, &device).swap_dims(1, 2);
        let room = Tensor::zeros([1, shape.heads, CAPACITY, shape.d_head()], &device);
        room.slice_assign([0..1, 0..shape.heads, 0..shape.past, 0..shape.d_head()], heads)
    };
    let mut weights = Weights::new(&shape);
    let mut layers = vec![];
    for (index, block) in weights.by_ref().enumerate() {
        layers.push(Layer {
            query: linear(block.query),
            key: linear(block.key),
            value: linear(block.value),
            output: linear(block.output),
            attention_norm: norm(block.attention_norm),
            inner: linear(block.inner),
            outer: linear(block.outer),
            feed_forward_norm: norm(block.feed_forward_norm),
            cache: past.get(index).map(|key_values| key_values.each_ref().map(room)),
        });
    }
    let final_norm = weights.final_norm().map(norm);
    let input = TensorData::new(Weights::tokens(&shape), [1, shape.tokens, shape.d_model]);
    Box::new(BurnPeer { shape, layers, final_norm, input: Tensor::from_data(input, &device), output: None })
}

impl Layer {
    fn attention(&mut self, shape: &Shape, x: Tensor<3>) -> Tensor<3> {
        let Shape { heads, tokens, past, d_model, .. } = *shape;
        let split = |x: Tensor<3>| x.reshape([1, tokens, heads, shape.d_head()]).swap_dims(1, 2);
        let query = split(self.query.forward(x.clone()));
        let mut key = split(self.key.forward(x.clone()));
        let mut value = split(self.value.forward(x));
        if let Some([keys, values]) = self.cache.take() {
            let new = [0..1, 0..heads, past..past + tokens, 0..shape.d_head()];
            let seen = [0..1, 0..heads, 0..past + tokens, 0..shape.d_head()];
            let keys = keys.slice_assign(new.clone(), key); // in place, as it is the only reference
            let values = values.slice_assign(new, value);
            key = keys.clone().slice(seen.clone());
            value = values.clone().slice(seen);
            self.cache = Some([keys, values]);
        }
        let context = attention(query, key, value, None, None, AttentionModuleOptions::default());
        self.output.forward(context.swap_dims(1, 2).reshape([1, tokens, d_model]))
    }

    fn forward(&mut self, shape: &Shape, mut x: Tensor<3>) -> Tensor<3> {
        let first = shape.norm_first;
        let normed = if first { self.attention_norm.forward(x.clone()) } else { x.clone() };
        x = x + self.attention(shape, normed);
        if !first {
            x = self.attention_norm.forward(x);
        }
        let normed = if first { self.feed_forward_norm.forward(x.clone()) } else { x.clone() };
        let inner = self.inner.forward(normed);
        let inner = match shape.activation {
            Activation::Relu => activation::relu(inner),
            Activation::Gelu => activation::gelu(inner),
            Activation::GeluTanh => activation::gelu_approximate(inner),
        };
        x = x + self.outer.forward(inner);
        if first { x } else { self.feed_forward_norm.forward(x) }
    }
}

impl Peer for BurnPeer {
    fn forward(&mut self) {
        let mut x = self.input.clone();
        for layer in &mut self.layers {
            x = layer.forward(&self.shape, x);
        }
        self.output = Some(match &self.final_norm {
            Some(norm) => norm.forward(x),
            None => x,
        });
    }

    fn output(&mut self) -> Vec<f32> {
        let output = self.output.clone().expect("a forward pass before");
        output.into_data().try_to_vec().expect("a tensor of f32")
    }
}
