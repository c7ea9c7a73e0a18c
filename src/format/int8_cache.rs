//! Keys and values of 8 bits.

use super::Format;
use crate::shape::{KnownWidth, Width};
use core::marker::PhantomData;

/// The format `T`, and keys and values are remembered in 8 bits each, a quarter of what they take in `f32`: see
/// [`KeyValueFormat`](crate::KeyValueFormat). Of up to 8192 tokens (`SEQ_LEN`, `CAPACITY`): more do not compile.
///
/// Weights are those of `T`, so a checkpoint or an image is read by models of both.
///
/// ```
/// use constformer::{Encoder, Int8, Int8Cache, Kwt, Plan};
///
/// type Kws<T> = Encoder<Kwt, 12, 64, 256, 1, T>;
///
/// assert_eq!(Plan::<Kws<Int8>, 99, 4>::FLASH, Plan::<Kws<Int8Cache<Int8>>, 99, 4>::FLASH);
/// assert_eq!(Plan::<Kws<Int8>, 99, 4>::RAM, 83_780);
/// assert_eq!(Plan::<Kws<Int8Cache<Int8>>, 99, 4>::RAM, 45_552);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Int8Cache<T>(PhantomData<T>);

impl<T: Format> Format for Int8Cache<T> {
    type Number = T::Number;
    type Matrix<const IN: usize, const OUT: usize>
        = T::Matrix<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = i8;
    type Stream = T::Stream;
}
