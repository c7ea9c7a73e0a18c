//! Matrices of 8-bit integers.

use super::{Format, Matrix};
use crate::{
    kernel::{Epilogue, integer::Multiply},
    number::Number,
    parameters::{self, Fingerprint, Layout, Name, Numbers, NumbersMut, Parameters, Shape, Tensor, Visit, VisitMut},
    plain::Zero,
    shape::{KnownWidth, Width},
};
use core::fmt;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Weights of 8 bits, a quarter of the flash: W ≈ diag(s) Q, with integers Q of -127 to 127 and a scale s for each output.
///
/// A product y = W x quantises the token x as well, x ≈ t p with p of -127 to 127, and sums integers: y = t s (Q p), exactly, whatever
/// the processor. Norms, softmax, activations, keys and values stay `f32`. What it costs in accuracy: a weight is off by at most
/// s / 2, max |w| / 254 of its output, and a feature by max |x| / 254 of its token.
///
/// A model in this format is made of one in `f32` by [`quantize`](crate::quantize), or loaded from a checkpoint, which quantises as well.
///
/// Jacob et al., [Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference][jacob], 2018; scales by token:
/// Yao et al., [ZeroQuant](https://arxiv.org/abs/2206.01861), 2022. PyTorch: `quantize_dynamic` with `per_channel_dynamic_qconfig`.
///
/// [jacob]: https://arxiv.org/abs/1712.05877
#[derive(Clone, Copy, Debug)]
pub struct Int8;

impl Format for Int8 {
    type Number = f32;
    type Matrix<const IN: usize, const OUT: usize>
        = Int8Rows<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = f32;
    type Stream = f32;
}

/// A matrix of `IN` inputs and `OUT` outputs in the format [`Int8`]: a scale for each output, then its weights, output by output as PyTorch
/// has them. After weights whose number is no multiple of 4 there are up to three bytes that mean nothing.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Int8Rows<const IN: usize, const OUT: usize> {
    pub(crate) scales: [f32; OUT],
    pub(crate) integers: [[i8; IN]; OUT],
}

impl<const IN: usize, const OUT: usize> Int8Rows<IN, OUT> {
    /// The weight from input `input` to output `output`; `None` if there is no such weight.
    #[must_use]
    pub fn get(&self, input: usize, output: usize) -> Option<f32> {
        let numbers = Numbers::Int8 { scales: &self.scales, integers: self.integers.as_flattened() };
        Tensor { frozen: false, shape: Self::SHAPE, layout: Layout::Int8, numbers }.get(output, input)
    }

    const SHAPE: Shape = Shape::Matrix([OUT, IN]);
}

impl<N: Number, const IN: usize, const OUT: usize> Matrix<IN, OUT, N> for Int8Rows<IN, OUT> {
    #[inline(never)]
    fn multiply(&self, x: &[[N; IN]], then: impl Epilogue<N>) {
        N::dispatch(Multiply { x, scales: &self.scales, w: &self.integers, then });
    }
}

impl<const IN: usize, const OUT: usize> Zero for Int8Rows<IN, OUT> {
    const ZERO: Self = Self { scales: Zero::ZERO, integers: [[0; IN]; OUT] };
}

impl<const IN: usize, const OUT: usize> fmt::Debug for Int8Rows<IN, OUT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parameters::debug::<Self>(f)
    }
}

impl<const IN: usize, const OUT: usize> Parameters for Int8Rows<IN, OUT> {
    const COUNT: usize = IN * OUT;
    const FINGERPRINT: Fingerprint = Fingerprint::of("int8").number(IN).number(OUT);
    const STRUCTURE: Fingerprint = super::structure(IN, OUT);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        let numbers = Numbers::Int8 { scales: &self.scales, integers: self.integers.as_flattened() };
        visit(name, Tensor { frozen: false, shape: Self::SHAPE, layout: Layout::Int8, numbers });
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        let numbers = NumbersMut::Int8 { scales: &mut self.scales, integers: self.integers.as_flattened_mut() };
        visit(name, Tensor { frozen: false, shape: Self::SHAPE, layout: Layout::Int8, numbers });
    }
}
