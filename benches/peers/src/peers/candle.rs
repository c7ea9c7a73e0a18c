//! candle: the layers of candle-nn, with its fused softmax and norm; AVX-512 in its products (the feature `x86-v4` of gemm).
//!
//! The cache is a tensor with room for more tokens, written to in place, as candle-nn's `KvCache` does it.

use super::{Past, Peer};
use crate::{
    shape::{Activation, Shape},
    weights::{self, Weights},
    workload::Workload,
};
use candle_core::{Device, Result, Tensor};
use candle_nn::{LayerNorm, Linear, Module};

/// Tokens that the cache has room for.
const CAPACITY: usize = 512;

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: LayerNorm,
    inner: Linear,
    outer: Linear,
    feed_forward_norm: LayerNorm,
    cache: Option<[Tensor; 2]>,
}

struct CandlePeer {
    shape: Shape,
    layers: Vec<Layer>,
    final_norm: Option<LayerNorm>,
    input: Tensor,
    output: Tensor,
}

/// A stack.
pub(super) fn load(workload: &Workload, past: &Past) -> Box<dyn Peer> {
    Box::new(stack(workload.shape, past).expect("a stack"))
}

fn tensor(values: Vec<f32>, shape: &[usize]) -> Result<Tensor> {
    Tensor::from_vec(values, shape, &Device::Cpu)
}

fn stack(shape: Shape, past: &Past) -> Result<CandlePeer> {
    let linear = |map: weights::Linear| -> Result<Linear> {
        let bias = tensor(map.bias, &[map.outputs])?;
        Ok(Linear::new(tensor(map.weight, &[map.outputs, map.inputs])?, Some(bias)))
    };
    let norm = |norm: weights::Norm| -> Result<LayerNorm> {
        let d = [shape.d_model];
        Ok(LayerNorm::new(tensor(norm.weight, &d)?, tensor(norm.bias, &d)?, shape.epsilon.into()))
    };
    let mut weights = Weights::new(&shape);
    let mut layers = vec![];
    for (index, block) in weights.by_ref().enumerate() {
        let cache = past.get(index).map(|[keys, values]| -> Result<[Tensor; 2]> {
            let room = |values: &[f32]| -> Result<Tensor> {
                let heads = tensor(values.to_vec(), &[1, shape.past, shape.heads, shape.d_head()])?;
                let room = tensor(vec![0.0; CAPACITY * shape.d_model], &[1, shape.heads, CAPACITY, shape.d_head()])?;
                room.slice_set(&heads.transpose(1, 2)?.contiguous()?, 2, 0)?;
                Ok(room)
            };
            Ok([room(keys)?, room(values)?])
        });
        layers.push(Layer {
            query: linear(block.query)?,
            key: linear(block.key)?,
            value: linear(block.value)?,
            output: linear(block.output)?,
            attention_norm: norm(block.attention_norm)?,
            inner: linear(block.inner)?,
            outer: linear(block.outer)?,
            feed_forward_norm: norm(block.feed_forward_norm)?,
            cache: cache.transpose()?,
        });
    }
    let final_norm = weights.final_norm().map(norm).transpose()?;
    let input = tensor(Weights::tokens(&shape), &[1, shape.tokens, shape.d_model])?;
    Ok(CandlePeer { shape, layers, final_norm, output: input.clone(), input })
}

impl CandlePeer {
    fn run(&self) -> Result<Tensor> {
        let mut x = self.input.clone();
        for layer in &self.layers {
            let first = self.shape.norm_first;
            let normed = if first { layer.attention_norm.forward(&x)? } else { x.clone() };
            x = (x + self.attention(layer, &normed)?)?;
            if !first {
                x = layer.attention_norm.forward(&x)?;
            }
            let normed = if first { layer.feed_forward_norm.forward(&x)? } else { x.clone() };
            let inner = layer.inner.forward(&normed)?;
            let inner = match self.shape.activation {
                Activation::Relu => inner.relu()?,
                Activation::Gelu => inner.gelu_erf()?,
                Activation::GeluTanh => inner.gelu()?,
            };
            x = (x + layer.outer.forward(&inner)?)?;
            if !first {
                x = layer.feed_forward_norm.forward(&x)?;
            }
        }
        self.final_norm.as_ref().map_or(Ok(x.clone()), |norm| norm.forward(&x))
    }

    fn attention(&self, layer: &Layer, x: &Tensor) -> Result<Tensor> {
        let Shape { heads, tokens, past, d_model, .. } = self.shape;
        let split = |x: Tensor| x.reshape((1, tokens, heads, self.shape.d_head()))?.transpose(1, 2);
        let query = (split(layer.query.forward(x)?)? * f64::from(self.shape.scale()))?;
        let mut key = split(layer.key.forward(x)?)?;
        let mut value = split(layer.value.forward(x)?)?;
        if let Some([keys, values]) = &layer.cache {
            keys.slice_set(&key, 2, past)?;
            values.slice_set(&value, 2, past)?;
            key = keys.narrow(2, 0, past + tokens)?;
            value = values.narrow(2, 0, past + tokens)?;
        }
        let scores = query.matmul(&key.t()?)?;
        let context = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&value)?;
        layer.output.forward(&context.transpose(1, 2)?.reshape((1, tokens, d_model))?)
    }
}

impl Peer for CandlePeer {
    fn forward(&mut self) {
        self.output = self.run().expect("a forward pass");
    }

    fn output(&mut self) -> Vec<f32> {
        self.output.flatten_all().and_then(|output| output.to_vec1()).expect("a tensor of f32")
    }
}
