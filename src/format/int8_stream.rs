//! A residual stream of 8 bits.

use super::Format;
use crate::shape::{KnownWidth, Width};
use core::marker::PhantomData;

/// The format `T`, and tokens are stored between layers in 8 bits for each feature, a quarter of what they take in `f32`: see
/// [`TokenFormat`](crate::TokenFormat). An [`Observer`](crate::Observer) sees what a block computed, before that is rounded.
///
/// Weights are those of `T`, so a checkpoint or an image is read by models of both. With [`Int8Cache`](crate::Int8Cache) it takes the least
/// memory:
///
/// ```
/// use constformer::{Encoder, Int8, Int8Cache, Int8Stream, Kwt, Plan};
///
/// type Kws<T> = Encoder<Kwt, 12, 64, 256, 1, T>;
///
/// assert_eq!(Plan::<Kws<Int8>, 99, 4>::RAM, 83_780);
/// assert_eq!(Plan::<Kws<Int8Stream<Int8Cache<Int8>>>, 99, 4>::RAM, 27_964);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Int8Stream<T>(PhantomData<T>);

impl<T: Format> Format for Int8Stream<T> {
    type Number = T::Number;
    type Matrix<const IN: usize, const OUT: usize>
        = T::Matrix<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = T::KeyValues;
    type Stream = i8;
}
