//! What a model computes with between its matrices.

mod factor;
mod fixed;
mod single;

use crate::{
    machine::{LaneWork, Lanes},
    norm::Norm,
    plain::Zero,
};
use core::fmt::Debug;
pub(crate) use factor::Factor;
use zerocopy::FromZeros;

/// The numbers that a model computes with between its matrices: `f32`, or `i32`, which are fixed-point numbers with 16 bits after the point, as in
/// [`math::fixed`](crate::math::fixed), for processors without a unit for the former.
///
/// A model has them by the format of its weights: see [`IntegerOnly`](crate::IntegerOnly).
#[diagnostic::on_unimplemented(message = "models do not compute in `{Self}`", label = "`f32` or `i32` is wanted here")]
#[expect(private_bounds, reason = "hidden methods")]
pub trait Number: Copy + Debug + PartialEq + Zero + FromZeros + Send + Sync + 'static {
    /// What integers are multiplied by to be numbers: 0 or more.
    #[doc(hidden)]
    type Factor: Copy + Debug + Send;
    /// 0
    #[doc(hidden)]
    const NOTHING: Self::Factor;
    /// An absolute value.
    #[doc(hidden)]
    type Magnitude: Copy;
    /// What numbers are multiplied by to be integers.
    #[doc(hidden)]
    type Inverse: Copy;
    /// A sum of numbers.
    #[doc(hidden)]
    type Sum: Copy;

    #[doc(hidden)]
    fn from_f32(x: f32) -> Self;
    #[doc(hidden)]
    fn to_f32(self) -> f32;
    #[doc(hidden)]
    fn from_fixed(x: i32) -> Self;
    #[doc(hidden)]
    fn to_fixed(self) -> i32;

    /// a + b
    #[doc(hidden)]
    #[must_use]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn sum(self) -> Self::Sum;
    #[doc(hidden)]
    fn add_to(self, sum: &mut Self::Sum);
    /// The `count`th part of a sum of so many numbers.
    #[doc(hidden)]
    fn mean(sum: Self::Sum, count: usize) -> Self;
    /// The vector (a, b), turned by an angle of which 2⁶⁴ are a whole turn. Its sine and cosine are computed once for many.
    #[doc(hidden)]
    fn rotation(turn: u64) -> impl Fn(Self, Self) -> (Self, Self);

    /// Shows some of the tokens, which are of `f32`, after the other, and the number of the first, until there are no more.
    #[doc(hidden)]
    fn read<const D: usize>(tokens: &[[f32; D]], see: impl FnMut(usize, &[[Self; D]]));
    /// As [`read`](Self::read), to change them.
    #[doc(hidden)]
    fn update<const D: usize>(tokens: &mut [[f32; D]], change: impl FnMut(usize, &mut [[Self; D]]));
    /// As [`read`](Self::read), of fixed-point numbers.
    #[doc(hidden)]
    fn read_fixed<const D: usize>(tokens: &[[i32; D]], see: impl FnMut(usize, &[[Self; D]]));
    /// As [`update`](Self::update), of fixed-point numbers.
    #[doc(hidden)]
    fn update_fixed<const D: usize>(tokens: &mut [[i32; D]], change: impl FnMut(usize, &mut [[Self; D]]));

    /// Runs `work` on the best machine there is.
    #[doc(hidden)]
    fn dispatch(work: impl LaneWork<Self>);
    /// Replaces every token by its normalisation.
    #[doc(hidden)]
    fn normalize<const D: usize>(norm: &impl Norm<D>, tokens: &mut [[Self; D]]);
    /// [`softmax_row`](crate::math::softmax_row)
    #[doc(hidden)]
    fn softmax_row(l: impl Lanes<Number = Self>, x: &mut [Self], scale: f32) -> Self::Factor;
    /// Multiplies what softmax has left of scores by the `factors`; returns the greatest, and what all are to be multiplied by.
    #[doc(hidden)]
    fn weigh(x: &mut [Self], factors: &[f32]) -> (Self::Magnitude, Self::Factor);

    /// max |x|
    #[doc(hidden)]
    fn greatest_magnitude(x: &[Self]) -> Self::Magnitude;
    /// What integers of up to `HIGHEST` are multiplied by to be numbers of up to that magnitude, and the inverse.
    #[doc(hidden)]
    fn scales<const HIGHEST: i16>(greatest_magnitude: Self::Magnitude) -> (Self::Factor, Self::Inverse);
    /// The nearest integer.
    #[doc(hidden)]
    fn nearest(self, inverse: Self::Inverse) -> i16;
    /// The number as a factor, for a number of 0 or more.
    #[doc(hidden)]
    fn factor(x: f32) -> Self::Factor;
    /// As it is stored.
    #[doc(hidden)]
    fn stored(factor: Self::Factor) -> f32;
    /// a b
    #[doc(hidden)]
    fn times(a: Self::Factor, b: Self::Factor) -> Self::Factor;
    /// n times a factor.
    #[doc(hidden)]
    fn product(n: i32, factor: Self::Factor) -> Self;
    /// What softmax has left of a score, times what it has returned.
    #[doc(hidden)]
    fn weight(self, of_row: Self::Factor) -> f32;

    /// Writes a token as integers of -127 to 127; returns their scale.
    #[doc(hidden)]
    fn store<const D: usize>(token: &[Self; D], integers: &mut [i8; D]) -> f32;
}

/// The scale of a stored token, of 16 bits: so 127 times it is exact, and a token that was read is stored as it was.
const fn rounded(scale: f32) -> f32 {
    f32::from_bits((scale.to_bits() + 0x80) & !0xff)
}
