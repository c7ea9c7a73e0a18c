//! tract: the ONNX model, optimized by itself, which packs the weights; one state for all runs. Attention is the operator
//! `MultiHeadAttention`, which is faster than standard ones; but tract's has no past, so W5 is of standard ones and copies its cache.

use super::{Past, Peer};
use crate::{
    onnx::{self, Style},
    shape::Shape,
    weights::Weights,
    workload::Workload,
};
use tract_onnx::prelude::*;

struct TractPeer {
    state: TypedSimpleState,
    inputs: TVec<TValue>,
    output: Option<TValue>,
}

/// A stack.
pub(super) fn load(workload: &Workload, past: &Past) -> Box<dyn Peer> {
    Box::new(stack(&workload.shape, past).expect("a stack"))
}

fn stack(shape: &Shape, past: &Past) -> TractResult<TractPeer> {
    let model = onnx::model(shape, if shape.past == 0 { Style::Fused } else { Style::Plain });
    let model = tract_onnx::onnx().model_for_read(&mut &*model)?.into_optimized()?.into_runnable()?;
    let mut inputs =
        tvec![Tensor::from_shape(&[1, shape.tokens, shape.d_model], &Weights::tokens(shape))?.into_tvalue()];
    for values in past.iter().flatten() {
        let heads = Tensor::from_shape(&[1, shape.past, shape.heads, shape.d_head()], values)?;
        inputs.push(heads.permute_axes(&[0, 2, 1, 3])?.into_tvalue());
    }
    Ok(TractPeer { state: model.spawn()?, inputs, output: None })
}

impl Peer for TractPeer {
    fn forward(&mut self) {
        let outputs = self.state.run(self.inputs.clone()).expect("a forward pass");
        self.output = outputs.into_iter().next();
    }

    fn output(&mut self) -> Vec<f32> {
        let output = self.output.as_ref().expect("a forward pass before");
        output.to_plain_array_view::<f32>().expect("a tensor of f32").iter().copied().collect()
    }
}
