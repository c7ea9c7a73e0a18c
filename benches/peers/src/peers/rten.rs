//! rten: the ONNX model in its own optimizer, weights packed when it is loaded.
//!
//! The cache is tensors with room for more tokens, handed over to each run: so keys and values are appended in place, as its
//! own crate for generation does it.

use super::{Past, Peer};
use crate::{
    onnx::{self, Style},
    weights::Weights,
    workload::Workload,
};
use rten::{Model, ModelOptions, NodeId, Value, ValueOrView};
use rten_tensor::{AsView, NdTensor, Tensor};

/// Tokens that the cache has room for.
const CAPACITY: usize = 512;

struct RtenPeer {
    model: Model,
    input: Tensor<f32>,
    input_id: NodeId,
    output: Option<Tensor<f32>>,
    output_ids: Vec<NodeId>,
    past: usize,
    cache: Vec<(NodeId, Tensor<f32>)>,
}

/// A stack.
pub(super) fn load(workload: &Workload, past: &Past) -> Box<dyn Peer> {
    let shape = &workload.shape;
    // With one token at a time weights are read once, and packing them is of no use.
    let pack = shape.tokens > 1;
    let model =
        ModelOptions::with_all_ops().prepack_weights(pack).load(onnx::model(shape, Style::Plain)).expect("a model");
    let id = |name: String| model.node_id(&name).expect("a node of that name");
    let mut cache = vec![];
    let mut output_ids = vec![id("y".into())];
    for (layer, key_values) in past.iter().enumerate() {
        for (kind, values) in ["key", "value"].into_iter().zip(key_values) {
            let heads = NdTensor::from_data([1, shape.past, shape.heads, shape.d_head()], values.clone());
            let mut room = Tensor::with_capacity(&[1, shape.heads, CAPACITY, shape.d_head()], 2);
            room.append(2, &heads.permuted([0, 2, 1, 3]).as_dyn()).expect("room in the cache");
            cache.push((id(format!("{kind}.{layer}")), room));
            output_ids.push(id(format!("new_{kind}.{layer}")));
        }
    }
    Box::new(RtenPeer {
        input: Tensor::from_data(&[1, shape.tokens, shape.d_model], Weights::tokens(shape)),
        input_id: id("x".into()),
        output: None,
        output_ids,
        past: shape.past,
        cache,
        model,
    })
}

impl Peer for RtenPeer {
    fn forward(&mut self) {
        let mut inputs: Vec<(NodeId, ValueOrView)> = vec![(self.input_id, self.input.view().into())];
        let ids: Vec<NodeId> = self.cache.iter().map(|(id, _)| *id).collect();
        inputs.extend(self.cache.drain(..).map(|(id, tensor)| (id, Value::from(tensor).into())));
        let mut outputs = self.model.run(inputs, &self.output_ids, None).expect("a forward pass").into_iter();
        let mut next = || outputs.next().and_then(|value| value.try_into().ok()).expect("a tensor of f32");
        self.output = Some(next());
        for id in ids {
            let mut tensor: Tensor<f32> = next();
            tensor.clip_dim(2, 0..self.past);
            self.cache.push((id, tensor));
        }
    }

    fn output(&mut self) -> Vec<f32> {
        self.output.as_ref().map(AsView::to_vec).unwrap_or_default()
    }
}
