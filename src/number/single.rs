//! `f32`.

use super::{Number, rounded};
use crate::{
    integer,
    machine::{LaneWork, Lanes, Machine, Work, dispatch},
    math::{fixed, sin_cos_of_turn},
    norm::Norm,
};

struct OnMachine<W>(W);

impl<W: LaneWork<f32>> Work for OnMachine<W> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        self.0.run(m);
    }
}

#[expect(private_bounds, reason = "hidden methods")]
impl Number for f32 {
    type Factor = Self;
    type Magnitude = Self;
    type Inverse = Self;
    type Sum = Self;

    const NOTHING: Self = 0.0;

    #[inline(always)]
    fn from_f32(x: Self) -> Self {
        x
    }

    #[inline(always)]
    fn to_f32(self) -> Self {
        self
    }

    fn from_fixed(x: i32) -> Self {
        fixed::to_f32(x)
    }

    fn to_fixed(self) -> i32 {
        fixed::from_f32(self)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn sum(self) -> Self {
        self
    }

    #[inline(always)]
    fn add_to(self, sum: &mut Self) {
        *sum += self;
    }

    #[inline(always)]
    fn mean(sum: Self, count: usize) -> Self {
        sum * (1.0 / count as Self)
    }

    #[inline(always)]
    fn rotation(turn: u64) -> impl Fn(Self, Self) -> (Self, Self) {
        let (sin, cos) = sin_cos_of_turn(turn);
        move |x, y| (x * cos - y * sin, x * sin + y * cos)
    }

    #[inline(always)]
    fn read<const D: usize>(tokens: &[[Self; D]], mut see: impl FnMut(usize, &[[Self; D]])) {
        see(0, tokens);
    }

    #[inline(always)]
    fn update<const D: usize>(tokens: &mut [[Self; D]], mut change: impl FnMut(usize, &mut [[Self; D]])) {
        change(0, tokens);
    }

    fn read_fixed<const D: usize>(tokens: &[[i32; D]], mut see: impl FnMut(usize, &[[Self; D]])) {
        for (i, token) in tokens.iter().enumerate() {
            see(i, &[token.map(fixed::to_f32)]);
        }
    }

    fn update_fixed<const D: usize>(tokens: &mut [[i32; D]], mut change: impl FnMut(usize, &mut [[Self; D]])) {
        for (i, token) in tokens.iter_mut().enumerate() {
            let mut x = [token.map(fixed::to_f32)];
            change(i, &mut x);
            let [x] = x;
            *token = x.map(fixed::from_f32);
        }
    }

    #[inline(always)]
    fn dispatch(work: impl LaneWork<Self>) {
        dispatch(OnMachine(work));
    }

    fn normalize<const D: usize>(norm: &impl Norm<D>, tokens: &mut [[Self; D]]) {
        norm.forward(tokens);
    }

    #[inline(always)]
    fn softmax_row(l: impl Lanes<Number = Self>, x: &mut [Self], scale: Self) -> Self {
        l.softmax_row(x, scale)
    }

    #[inline(always)]
    fn weigh(x: &mut [Self], factors: &[f32]) -> (Self, Self) {
        let weighed = x.iter_mut().zip(factors).map(|(x, factor)| {
            *x *= factor;
            *x
        });
        (integer::greatest_magnitude(weighed), 1.0)
    }

    #[inline(always)]
    fn greatest_magnitude(x: &[Self]) -> Self {
        integer::greatest_magnitude(x.iter().copied())
    }

    #[inline(always)]
    fn scales<const HIGHEST: i16>(greatest_magnitude: Self) -> (Self, Self) {
        integer::scales(greatest_magnitude, const { HIGHEST as Self })
    }

    #[inline(always)]
    fn nearest(self, inverse: Self) -> i16 {
        integer::nearest(self * inverse)
    }

    #[inline(always)]
    fn factor(x: f32) -> Self {
        x
    }

    #[inline(always)]
    fn stored(factor: Self) -> Self {
        factor
    }

    #[inline(always)]
    fn times(a: Self, b: Self) -> Self {
        a * b
    }

    #[inline(always)]
    fn product(n: i32, factor: Self) -> Self {
        n as Self * factor
    }

    #[inline(always)]
    fn weight(self, of_row: Self) -> Self {
        self * of_row
    }

    fn store<const D: usize>(token: &[Self; D], integers: &mut [i8; D]) -> Self {
        let (exact, _) = Self::scales::<127>(Self::greatest_magnitude(token));
        let scale = if exact.is_finite() { rounded(exact) } else { exact };
        let (scale, inverse) = if scale < Self::MIN_POSITIVE { (0.0, 0.0) } else { (scale, 1.0 / scale) };
        integers.iter_mut().zip(token).for_each(|(q, x)| *q = x.nearest(inverse) as i8);
        scale
    }
}
