//! `i32`: fixed-point numbers with 16 bits after the point. No function here has a floating-point operation; an `f32` is taken apart as bits.

use super::{Factor, Number, rounded};
use crate::{
    machine::{Integers, LaneWork, Lanes},
    math::{fixed, turned},
    norm::Norm,
};

/// What a number is multiplied by to be an integer of up to a highest one: shifted up, then down by 15, it has 16 bits or a few less.
#[derive(Clone, Copy)]
pub struct Inverse {
    up: u32,
    factor: i32,
}

#[expect(private_bounds, reason = "hidden methods")]
impl Number for i32 {
    type Factor = Factor;
    type Magnitude = u32;
    type Inverse = Inverse;
    type Sum = i64;

    const NOTHING: Factor = Factor::of(0);

    fn from_f32(x: f32) -> Self {
        fixed::from_f32(x)
    }

    fn to_f32(self) -> f32 {
        fixed::to_f32(self)
    }

    fn from_fixed(x: Self) -> Self {
        x
    }

    fn to_fixed(self) -> Self {
        self
    }

    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    fn sum(self) -> i64 {
        self.into()
    }

    fn add_to(self, sum: &mut i64) {
        *sum += i64::from(self);
    }

    fn mean(sum: i64, count: usize) -> Self {
        i64::try_from(count).ok().and_then(|count| sum.checked_div(count)).unwrap_or_default() as Self
    }

    fn rotation(turn: u64) -> impl Fn(Self, Self) -> (Self, Self) {
        // Of which 2⁶² are 1.
        let (sin, cos) = turned(turn);
        let [sin, cos] = [sin, cos].map(|x| x >> 32);
        let sum = |a: i64, b: i64| {
            let sum = (a + b + (1 << 29)) >> 30;
            Self::try_from(sum).unwrap_or(if sum < 0 { Self::MIN } else { Self::MAX })
        };
        move |x, y| {
            let (x, y) = (i64::from(x), i64::from(y));
            (sum(x * cos, -y * sin), sum(x * sin, y * cos))
        }
    }

    fn read<const D: usize>(tokens: &[[f32; D]], mut see: impl FnMut(usize, &[[Self; D]])) {
        for (i, token) in tokens.iter().enumerate() {
            see(i, &[token.map(fixed::from_f32)]);
        }
    }

    fn update<const D: usize>(tokens: &mut [[f32; D]], mut change: impl FnMut(usize, &mut [[Self; D]])) {
        for (i, token) in tokens.iter_mut().enumerate() {
            let mut x = [token.map(fixed::from_f32)];
            change(i, &mut x);
            let [x] = x;
            *token = x.map(fixed::to_f32);
        }
    }

    fn read_fixed<const D: usize>(tokens: &[[Self; D]], mut see: impl FnMut(usize, &[[Self; D]])) {
        see(0, tokens);
    }

    fn update_fixed<const D: usize>(tokens: &mut [[Self; D]], mut change: impl FnMut(usize, &mut [[Self; D]])) {
        change(0, tokens);
    }

    #[inline(always)]
    fn dispatch(work: impl LaneWork<Self>) {
        work.run(Integers);
    }

    fn normalize<const D: usize>(norm: &impl Norm<D>, tokens: &mut [[Self; D]]) {
        norm.forward_fixed(tokens);
    }

    fn softmax_row(_: impl Lanes<Number = Self>, x: &mut [Self], scale: f32) -> Factor {
        let scale = Factor::from_f32(scale).apply::<0>(fixed::LOG2_E);
        Factor::reciprocal(fixed::exponentials(x, scale))
    }

    fn weigh(x: &mut [Self], factors: &[f32]) -> (u32, Factor) {
        // As integers, numbers of 0 or more are in the same order.
        let highest = factors.iter().zip(&*x).fold(0, |max, (factor, _)| max.max(factor.to_bits() >> 23));
        let mut greatest = 0;
        for (x, factor) in x.iter_mut().zip(factors) {
            let (exponent, fraction) = (factor.to_bits() >> 23, factor.to_bits() & 0x007f_ffff | 0x0080_0000);
            let fraction = if exponent == 0 { 0 } else { fraction >> 8 };
            let y = ((*x >> 15).unsigned_abs() * fraction).checked_shr(highest - exponent).unwrap_or_default();
            greatest = greatest.max(y);
            *x = y.cast_signed();
        }
        // What is taken for a fixed-point number is an integer, of 2¹⁵ of what softmax left and 2⁸ of a fraction.
        (greatest, Factor::power_of_two(16 + 15 + 8 + highest.cast_signed() - 150))
    }

    fn greatest_magnitude(x: &[Self]) -> u32 {
        x.iter().fold(0, |max, x| max.max(x.unsigned_abs()))
    }

    #[inline(always)]
    fn scales<const HIGHEST: i16>(greatest_magnitude: u32) -> (Factor, Inverse) {
        let up = greatest_magnitude.leading_zeros().saturating_sub(1);
        let highest = (HIGHEST as u32) << 20;
        let factor = highest.checked_div(greatest_magnitude << up >> 15).unwrap_or_default().cast_signed();
        let scale = const { Factor::reciprocal(HIGHEST as u64).times(Factor::power_of_two(-16)) };
        (Factor::of(greatest_magnitude).times(scale), Inverse { up, factor })
    }

    #[inline(always)]
    fn nearest(self, Inverse { up, factor }: Inverse) -> i16 {
        ((((self << up) >> 15) * factor + (1 << 19)) >> 20) as i16
    }

    #[inline(always)]
    fn factor(x: f32) -> Factor {
        Factor::from_f32(x)
    }

    fn stored(factor: Factor) -> f32 {
        factor.to_f32()
    }

    #[inline(always)]
    fn times(a: Factor, b: Factor) -> Factor {
        a.times(b)
    }

    #[inline(always)]
    fn product(n: i32, factor: Factor) -> Self {
        factor.apply::<16>(n)
    }

    fn weight(self, of_row: Factor) -> f32 {
        fixed::to_f32(Self::product(self, of_row))
    }

    fn store<const D: usize>(token: &[Self; D], integers: &mut [i8; D]) -> f32 {
        let (scale, inverse) = Self::scales::<127>(Self::greatest_magnitude(token));
        integers.iter_mut().zip(token).for_each(|(q, x)| *q = x.nearest(inverse) as i8);
        rounded(scale.to_f32())
    }
}
