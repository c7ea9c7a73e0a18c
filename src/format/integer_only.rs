//! Models without a floating-point operation.

use super::{Format, Int4, Int8, Matrix};
use crate::{
    Int4Rows, Int8Rows,
    shape::{KnownWidth, Width},
};
use core::marker::PhantomData;

/// The weights of `T`, which is [`Int8`] or [`Int4`], and all else in integers as well, for processors without a unit for floating-point
/// numbers: what a block computes with are fixed-point numbers ([`Number`](crate::number::Number)), keys and values have 8 bits
/// ([`KeyValueFormat`](crate::KeyValueFormat)), tokens between layers are fixed-point numbers or, with
/// [`Int8Stream`](crate::Int8Stream), of 8 bits.
///
/// Softmax, activations and norms are those of [`math::fixed`](crate::math::fixed), where their errors are stated; a number is off by 2⁻¹⁶ at
/// most, and lies between -32768 and 32768: what would be greater becomes the greatest. NaN and infinities there are none.
/// Outputs of stacks and classifiers have the same bits on every processor. Up to 8192 tokens and features. Weights are those of `T`, so a checkpoint or an image is read by models of both; scales and
/// biases, which are `f32` in it, are taken apart as bits. Token embeddings and the heads of language models compute in `f32`.
///
/// ```
/// use constformer::{Encoder, Int8, Int8Stream, IntegerOnly, Kwt, Plan};
///
/// type Kws<T> = Encoder<Kwt, 12, 64, 256, 1, T>;
///
/// assert_eq!(Plan::<Kws<Int8>, 99, 4>::FLASH, Plan::<Kws<IntegerOnly<Int8>>, 99, 4>::FLASH);
/// assert_eq!(Plan::<Kws<Int8Stream<IntegerOnly<Int8>>>, 99, 4>::RAM, 27_964);
/// ```
///
/// Kim et al., [I-BERT: Integer-only BERT Quantization](https://arxiv.org/abs/2101.01321), 2021.
#[derive(Clone, Copy, Debug)]
pub struct IntegerOnly<T>(PhantomData<T>);

/// A format whose matrices multiply integers: [`Int8`] or [`Int4`].
#[diagnostic::on_unimplemented(
    message = "the weights of `{Self}` are not integers",
    label = "`Int8` or `Int4` is wanted here"
)]
pub trait IntegerWeights: Format {
    #[doc(hidden)]
    type Integers<const IN: usize, const OUT: usize>: Matrix<IN, OUT, i32>
    where
        Width<IN>: KnownWidth;
}

impl IntegerWeights for Int8 {
    type Integers<const IN: usize, const OUT: usize>
        = Int8Rows<IN, OUT>
    where
        Width<IN>: KnownWidth;
}

impl IntegerWeights for Int4 {
    type Integers<const IN: usize, const OUT: usize>
        = Int4Rows<IN, OUT>
    where
        Width<IN>: KnownWidth;
}

impl<T: IntegerWeights> Format for IntegerOnly<T> {
    type Number = i32;
    type Matrix<const IN: usize, const OUT: usize>
        = T::Integers<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = i8;
    type Stream = i32;
}
