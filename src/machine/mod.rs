//! What the arithmetic needs from a processor.
//!
//! Kernels and functions are written once, over [`Machine`]: a vector of lanes. Two implementations: [`Plain`], portable
//! Rust, and, with the feature `std`, the instruction set found at run time. Lanes are explicit because a loop left to the
//! compiler reaches the processor's limit for most tile shapes and 2 % of it for some.
//!
//! Users meet this module only if they write an [`Activation`] of their own.

mod integers;
mod plain;
mod prefetch;
#[cfg(feature = "std")]
mod simd;

pub(crate) use integers::Integers;
pub use plain::{Plain, Single};
pub(crate) use prefetch::prefetch;
#[cfg(feature = "std")]
pub(crate) use simd::dispatch;

use crate::{activation::Activation, number::Number};

/// Vectors of `LANES` numbers, and what an epilogue does with them lane by lane.
pub trait Lanes: Copy {
    /// What the numbers are.
    type Number: Number;
    /// `LANES` numbers in a register, or in a few.
    type Vector: Copy;
    /// Numbers in a vector.
    const LANES: usize;

    /// `x` in every lane.
    fn splat(self, x: Self::Number) -> Self::Vector;
    /// The first `LANES` numbers of `x`, or, where it has fewer, all and zeros.
    fn load(self, x: &[Self::Number]) -> Self::Vector;
    /// Writes to the first `LANES` numbers of `out`, or, where it has fewer, to all.
    fn store(self, x: Self::Vector, out: &mut [Self::Number]);
    /// a + b
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a b
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// As [`load`](Self::load), of parameters, which are of `f32`.
    #[doc(hidden)]
    fn load_parameters(self, x: &[f32]) -> Self::Vector;
    /// As [`store`](Self::store), to numbers of `f32`.
    #[doc(hidden)]
    fn store_f32(self, x: Self::Vector, out: &mut [f32]);
    /// f(x)
    #[doc(hidden)]
    fn activate<A: Activation>(self, x: Self::Vector) -> Self::Vector;
    /// [`softmax_row`](crate::math::softmax_row)
    #[doc(hidden)]
    fn softmax_row(self, x: &mut [Self::Number], scale: f32) -> <Self::Number as Number>::Factor;
}

/// What of [`Lanes`] is the same on every machine.
macro_rules! of_machines {
    () => {
        #[inline(always)]
        fn load_parameters(self, x: &[f32]) -> Self::Vector {
            self.load(x)
        }

        #[inline(always)]
        fn store_f32(self, x: Self::Vector, out: &mut [f32]) {
            self.store(x, out);
        }

        #[inline(always)]
        fn activate<A: $crate::activation::Activation>(self, x: Self::Vector) -> Self::Vector {
            A::apply(self, x)
        }

        #[inline(always)]
        fn softmax_row(self, x: &mut [f32], scale: f32) -> f32 {
            $crate::math::softmax_row(self, x, scale)
        }
    };
}
use of_machines;

/// Vectors of `f32`, and what functions of them need.
pub trait Machine: Lanes<Number = f32> {
    /// Rows of a register tile: 8, 6 or 4.
    const ROWS: usize;
    /// Vectors in a row of a register tile: 2 or 1.
    const VECTORS: usize;

    /// Whether a division takes no longer than a few multiplications.
    const DIVIDES: bool;

    /// a - b
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a / b
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// |a|
    fn abs(self, a: Self::Vector) -> Self::Vector;
    /// a if a < b, else b: so a NaN in b stays.
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a if a > b, else b: so a NaN in b stays.
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a b + c, rounded once where the processor does that in one instruction.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// y, but 0 where x < bound.
    fn zero_below(self, x: Self::Vector, bound: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// 2ⁿ for an n of -126 to 127, which is in the low bits of the floating-point number `n`.
    fn power_of_two(self, n: Self::Vector) -> Self::Vector;
    /// The sum of the lanes.
    fn sum_lanes(self, a: Self::Vector) -> f32;
    /// The maximum of the lanes.
    fn max_lanes(self, a: Self::Vector) -> f32;
}

/// Something to compute, on any machine.
pub(crate) trait Work {
    type Output;

    /// `#[inline(always)]`, with all that it calls: only so does it use the instructions of `m`.
    fn run<M: Machine>(self, m: M) -> Self::Output;
}

/// Something to do in any kind of numbers.
pub(crate) trait LaneWork<N: Number> {
    /// As [`Work::run`].
    fn run<L: Lanes<Number = N>>(self, l: L);
}

/// Runs `work` on the best machine there is.
#[cfg(not(feature = "std"))]
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    work.run(Plain)
}
