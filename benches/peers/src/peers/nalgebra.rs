//! nalgebra: the encoder of `benches/encoder.rs`, with products into matrices that are there already, and a decoder likewise.
//!
//! Matrices are `Dyn`, whose products are those of the crate matrixmultiply: faster than nalgebra's static ones at these sizes.

use super::{Past, Peer, nalgebra_decoder, nalgebra_encoder};
use crate::{shape::Activation, weights::Weights, workload::Workload};
use nalgebra::{DMatrix, Dyn};

type Encoder = nalgebra_encoder::Encoder<Dyn, Dyn, Dyn, Dyn, fn(f32) -> f32>;

struct EncoderPeer {
    encoder: Encoder,
    input: DMatrix<f32>,
    output: DMatrix<f32>,
}

/// An encoder or, with a past, a decoder.
pub(super) fn load(workload: &Workload, _: &Past) -> Box<dyn Peer> {
    let shape = &workload.shape;
    if shape.past > 0 {
        return Box::new(nalgebra_decoder::Decoder::load(shape));
    }
    let kind = nalgebra_encoder::Kind {
        norm_first: shape.norm_first,
        epsilon: shape.epsilon,
        activation: activation(shape.activation),
    };
    let sizes = (Dyn(shape.d_model), Dyn(shape.d_ff), Dyn(shape.d_head()), Dyn(shape.tokens));
    let mut tensors = Weights::tensors(shape).map(|(_, _, values)| values);
    let input = DMatrix::from_vec(shape.d_model, shape.tokens, Weights::tokens(shape));
    let encoder = Encoder::load(&mut tensors, shape.layers, sizes, kind);
    Box::new(EncoderPeer { encoder, output: input.clone(), input })
}

impl Peer for EncoderPeer {
    fn forward(&mut self) {
        self.output.copy_from(&self.input);
        self.encoder.forward(&mut self.output);
    }

    fn output(&mut self) -> Vec<f32> {
        self.output.as_slice().to_vec()
    }
}

/// The function itself, by `std` and `libm`.
pub(super) fn activation(activation: Activation) -> fn(f32) -> f32 {
    match activation {
        Activation::Relu => |x| x.max(0.0),
        Activation::Gelu => |x| 0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2)),
        Activation::GeluTanh => |x| {
            let y = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + y.tanh())
        },
    }
}
