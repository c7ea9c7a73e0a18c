//! A row of integers of more than 8 bits, against rows of 8: what is looked up by attention.

use super::{order, two_dots};
use crate::{
    integer::{greatest_magnitude, nearest, scales},
    plain::Zero,
};
use zerocopy::FromZeros;

/// The greatest magnitude. With it, the sum of 8192 products fits 32 bits.
const HIGHEST: f32 = 2047.0;

/// Up to `N` integers. Aligned as LDRD asks.
#[derive(Debug, FromZeros)]
#[repr(C, align(4))]
pub(crate) struct Row<const N: usize> {
    pub(super) integers: [i16; N],
}

impl<const N: usize> Zero for Row<N> {
    const ZERO: Self = Self { integers: [0; N] };
}

impl<const N: usize> Row<N> {
    /// Becomes the numbers `x`, as integers times a scale, which is returned.
    #[inline(always)]
    pub(crate) fn quantize(&mut self, x: &[f32]) -> f32 {
        const { assert!(N <= 1 << 13, "the sum of more than 8192 products may not fit 32 bits") }
        let (scale, inverse) = scales(greatest_magnitude(x.iter().copied()), HIGHEST);
        let integers = self.integers.get_mut(..x.len()).unwrap_or_default();
        integers.iter_mut().zip(x).for_each(|(q, x)| *q = nearest(x * inverse));
        order(integers);
        scale
    }

    /// The sums of the products of the integers from `from` on, which is a multiple of 4, with each of two rows `w`; one of them has its end
    /// with the other.
    #[inline(always)]
    pub(crate) fn two_dots(&self, from: usize, w: [&[i8]; 2]) -> [i32; 2] {
        two_dots(self, from, w)
    }
}
