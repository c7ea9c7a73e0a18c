//! A row of integers of more than 8 bits, against rows of 8: what is looked up by attention.

use super::{four_dots, in_order, one_dot};
use crate::{message::Message, number::Number, plain::Zero};
use zerocopy::FromZeros;

/// The greatest magnitude of queries and weights of attention. With it, the sum of 8192 products fits 32 bits.
pub(crate) const HIGHEST_OF_ATTENTION: i16 = 2047;

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
    /// Becomes the numbers `x`, up to a magnitude, as integers of up to `HIGHEST` times a scale, which is returned.
    #[inline(always)]
    pub(crate) fn quantize<X: Number, const HIGHEST: i16>(
        &mut self,
        x: &[X],
        greatest_magnitude: X::Magnitude,
    ) -> X::Factor {
        let (scale, inverse) = X::scales::<HIGHEST>(greatest_magnitude);
        let integers = self.integers.get_mut(..x.len()).unwrap_or_default();
        let ((fours, rest), (x, x_rest)) = (integers.as_chunks_mut::<4>(), x.as_chunks::<4>());
        fours.iter_mut().zip(x).for_each(|(q, x)| *q = in_order(x.map(|x| x.nearest(inverse))));
        rest.iter_mut().zip(x_rest).for_each(|(q, x)| *q = x.nearest(inverse));
        scale
    }

    /// Refuses to compile rows for which the sum of the products of [`HIGHEST_OF_ATTENTION`] with 127 may not fit 32 bits.
    pub(crate) const fn assert_sums_fit() {
        if N > 1 << 13 {
            Message::new()
                .text("attention with keys and values of 8 bits (`Int8Cache`, `IntegerOnly`), of ")
                .number(N)
                .text(" tokens (`SEQ_LEN`) or features (`D_MODEL`): sums of integers have room for 8192")
                .panic();
        }
    }

    /// The sums of the products of `len` integers from `from` on, which is a multiple of 4, with as many of each row of `w` from `column` on.
    #[inline(always)]
    pub(crate) fn four_dots<const STRIDE: usize>(
        &self,
        from: usize,
        w: &[[i8; STRIDE]; 4],
        column: usize,
        len: usize,
    ) -> [i32; 4] {
        four_dots(self, from, w, column, len)
    }

    /// The sum of the products of the integers from `from` on, which is a multiple of 4, with all of `w`, whose end is theirs.
    #[inline(always)]
    pub(crate) fn dot(&self, from: usize, w: &[i8]) -> i32 {
        one_dot(self.integers.get(from..).unwrap_or_default(), w)
    }
}
