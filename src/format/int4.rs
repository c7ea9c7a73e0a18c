//! Matrices of 4-bit integers.

use super::{Format, Matrix};
use crate::{
    kernel::{Epilogue, integer::MultiplyInt4},
    number::Number,
    parameters::{self, Fingerprint, Layout, Name, Numbers, NumbersMut, Parameters, Shape, Tensor, Visit, VisitMut},
    plain::Zero,
    shape::{KnownWidth, Width},
};
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Weights of 4 bits in groups of 32, little more than an eighth of the flash: W ≈ diag(s) (F ⊙ Q), with integers Q of -7 to 7, a factor of 0 to 255 for each
/// 32 inputs of an output, which are F, and a scale s for each output.
///
/// A product quantises the token as [`Int8`](crate::Int8) does, x ≈ t p with p of -127 to 127, and sums integers: y = t s ((F ⊙ Q) p), exactly,
/// whatever the processor. All else stays as in `Int8`. A matrix has up to 8288 inputs. A weight is off by at most half of s f: max |w| / 14
/// of its group, and max |w| / 3570 of its output more. Try it on samples of yours, and `Int8` for what it does not suit.
///
/// A model in this format is made of one in `f32` by [`quantize`](crate::quantize), or loaded from a checkpoint, which quantises as well.
#[derive(Clone, Copy, Debug)]
pub struct Int4;

impl Format for Int4 {
    type Number = f32;
    type Matrix<const IN: usize, const OUT: usize>
        = Int4Rows<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = f32;
    type Stream = f32;
}

type Factors<const IN: usize> = <Width<IN> as KnownWidth>::Groups;
type Integers<const IN: usize> = <Width<IN> as KnownWidth>::Nibbles;

/// A matrix of `IN` inputs and `OUT` outputs in the format [`Int4`]: a scale for each output, then its factors, output by output, then its
/// weights, output by output, two a byte. After them there are up to three bytes that mean nothing.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Int4Rows<const IN: usize, const OUT: usize>
where
    Width<IN>: KnownWidth,
{
    scales: [f32; OUT],
    factors: [Factors<IN>; OUT],
    integers: [Integers<IN>; OUT],
}

impl<const IN: usize, const OUT: usize> Int4Rows<IN, OUT>
where
    Width<IN>: KnownWidth,
{
    const SHAPE: Shape = Shape::Matrix([OUT, IN]);

    /// The weight from input `input` to output `output`; `None` if there is no such weight.
    #[must_use]
    pub fn get(&self, input: usize, output: usize) -> Option<f32> {
        self.tensor().get(output, input)
    }

    fn tensor(&self) -> Tensor<Numbers<'_>> {
        let (scales, factors, integers) = (&self.scales[..], self.factors.as_bytes(), self.integers.as_bytes());
        let numbers = Numbers::Int4 { scales, factors, integers };
        Tensor { frozen: false, shape: Self::SHAPE, layout: Layout::Int4, numbers }
    }
}

impl<N: Number, const IN: usize, const OUT: usize> Matrix<IN, OUT, N> for Int4Rows<IN, OUT>
where
    Width<IN>: KnownWidth,
{
    #[inline(never)]
    fn multiply(&self, x: &[[N; IN]], then: impl Epilogue<N>) {
        N::dispatch(MultiplyInt4 { x, scales: &self.scales, factors: &self.factors, integers: &self.integers, then });
    }
}

impl<const IN: usize, const OUT: usize> Zero for Int4Rows<IN, OUT>
where
    Width<IN>: KnownWidth,
{
    const ZERO: Self = Self { scales: Zero::ZERO, factors: Zero::ZERO, integers: Zero::ZERO };
}

impl<const IN: usize, const OUT: usize> fmt::Debug for Int4Rows<IN, OUT>
where
    Width<IN>: KnownWidth,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parameters::debug::<Self>(f)
    }
}

impl<const IN: usize, const OUT: usize> Parameters for Int4Rows<IN, OUT>
where
    Width<IN>: KnownWidth,
{
    const COUNT: usize = IN * OUT;
    const FINGERPRINT: Fingerprint = Fingerprint::of("int4").number(IN).number(OUT);
    const STRUCTURE: Fingerprint = super::structure(IN, OUT);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        visit(name, self.tensor());
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        let Self { scales, factors, integers } = self;
        let numbers = NumbersMut::Int4 { scales, factors: factors.as_mut_bytes(), integers: integers.as_mut_bytes() };
        visit(name, Tensor { frozen: false, shape: Self::SHAPE, layout: Layout::Int4, numbers });
    }
}
