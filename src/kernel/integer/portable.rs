//! Sums of integer products in portable Rust.

use super::Row;
use crate::{integer4::unpack, number::Number, plain::Zero, shape::Bytes};

/// `T` tokens as integers of -127 to 127 times a scale for each, in 16 bits since that is what processors multiply and add in pairs.
pub(super) struct Tokens<N: Number, const T: usize, const IN: usize> {
    integers: [[i16; IN]; T],
    pub(super) scales: [N::Factor; T],
}

impl<N: Number, const T: usize, const IN: usize> Tokens<N, T, IN> {
    pub(super) const ZERO: Self = Self { integers: [[0; IN]; T], scales: [N::NOTHING; T] };

    #[inline(always)]
    pub(super) fn quantize(&mut self, x: &[[N; IN]; T]) {
        for ((integers, of_token), x) in self.integers.iter_mut().zip(&mut self.scales).zip(x) {
            let (scale, inverse) = N::scales::<127>(N::greatest_magnitude(x));
            integers.iter_mut().zip(x).for_each(|(q, x)| *q = x.nearest(inverse));
            *of_token = scale;
        }
    }
}

#[inline(always)]
fn dot<const IN: usize>(x: &[i16; IN], w: &[i8; IN]) -> i32 {
    super::dot(x.iter(), w)
}

/// The products of four tokens with a row of w.
#[inline(always)]
pub(super) fn four_by_one<N: Number, const IN: usize>(x: &Tokens<N, 4, IN>, w: &[i8; IN]) -> [i32; 4] {
    x.integers.each_ref().map(|x| dot(x, w))
}

/// The products of a token with four rows of w.
#[inline(always)]
pub(super) fn one_by_four<N: Number, const IN: usize>(x: &Tokens<N, 1, IN>, w: &[[i8; IN]; 4]) -> [i32; 4] {
    w.each_ref().map(|w| dot(&x.integers[0], w))
}

/// The product of a token with a row of w.
#[inline(always)]
pub(super) fn one_by_one<N: Number, const IN: usize>(x: &Tokens<N, 1, IN>, w: &[i8; IN]) -> i32 {
    dot(&x.integers[0], w)
}

/// Four integers in the order in which [`four_dots`] reads them.
#[inline(always)]
pub(super) const fn in_order(integers: [i16; 4]) -> [i16; 4] {
    integers
}

/// The products of `len` integers of a row, from one on whose number is a multiple of 4, with as many of each row of w from `column` on.
#[inline(always)]
pub(super) fn four_dots<const N: usize, const STRIDE: usize>(
    row: &Row<N>,
    from: usize,
    w: &[[i8; STRIDE]; 4],
    column: usize,
    len: usize,
) -> [i32; 4] {
    let x = row.integers.get(from..).unwrap_or_default();
    let x = x.get(..len).unwrap_or(x);
    w.each_ref().map(|w| super::dot(x.iter(), w.get(column..).unwrap_or_default()))
}

/// The sum of the products of integers of a row with all of w, whose end is theirs.
#[inline(always)]
pub(super) fn one_dot(x: &[i16], w: &[i8]) -> i32 {
    super::dot(x.iter(), w)
}

/// `T` tokens for weights of 4 bits: integers of -127 to 127 times a scale for each.
pub(super) struct Int4Tokens<N: Number, const T: usize, const IN: usize> {
    integers: [Row<IN>; T],
    pub(super) scales: [N::Factor; T],
}

impl<N: Number, const T: usize, const IN: usize> Int4Tokens<N, T, IN> {
    pub(super) const ZERO: Self = Self { integers: [const { Row::ZERO }; T], scales: [N::NOTHING; T] };

    #[inline(always)]
    pub(super) fn quantize(&mut self, x: &[[N; IN]; T]) {
        for ((integers, of_token), x) in self.integers.iter_mut().zip(&mut self.scales).zip(x) {
            *of_token = integers.quantize::<N, 127>(x, N::greatest_magnitude(x));
        }
    }
}

#[inline(always)]
fn dot16<const IN: usize>(x: &Row<IN>, w: &Row<IN>) -> i32 {
    super::sum(x.integers.iter().zip(&w.integers).map(|(x, w)| i32::from(*x) * i32::from(*w)))
}

/// The products of four tokens with a row of w: factors and integers.
#[inline(always)]
pub(super) fn int4_four_by_one<N: Number, const IN: usize>(
    x: &Int4Tokens<N, 4, IN>,
    factors: &[u8],
    w: &[u8],
) -> [i32; 4] {
    let mut row = Row::ZERO;
    unpack(factors, w, &mut row.integers);
    x.integers.each_ref().map(|x| dot16(x, &row))
}

/// The product of a token with a row of w.
#[inline(always)]
pub(super) fn int4_one_by_one<N: Number, const IN: usize>(x: &Int4Tokens<N, 1, IN>, factors: &[u8], w: &[u8]) -> i32 {
    let mut row = Row::ZERO;
    unpack(factors, w, &mut row.integers);
    dot16(&x.integers[0], &row)
}

/// The products of a token with two rows of w.
#[inline(always)]
pub(super) fn int4_one_by_two<N: Number, F: Bytes, I: Bytes, const IN: usize>(
    x: &Int4Tokens<N, 1, IN>,
    [f0, f1]: &[F; 2],
    [w0, w1]: &[I; 2],
) -> [i32; 2] {
    [int4_one_by_one(x, f0.as_bytes(), w0.as_bytes()), int4_one_by_one(x, f1.as_bytes(), w1.as_bytes())]
}
