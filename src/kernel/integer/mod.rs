//! Rows times a matrix of integers: rows are quantised, sums are integers.

#[cfg(constformer_dsp)]
mod dsp;
#[cfg(constformer_dsp)]
mod dsp_int4;
mod int4;
#[cfg(not(constformer_dsp))]
mod portable;
mod row;

#[cfg(constformer_dsp)]
use dsp::{Tokens, four_by_one, four_dots, in_order, one_by_four, one_by_one, one_dot};
#[cfg(constformer_dsp)]
use dsp_int4::{Int4Tokens, int4_four_by_one, int4_one_by_one, int4_one_by_two};
#[cfg(not(constformer_dsp))]
use portable::{
    Int4Tokens, Tokens, four_by_one, four_dots, in_order, int4_four_by_one, int4_one_by_one, int4_one_by_two,
    one_by_four, one_by_one, one_dot,
};

pub(crate) use int4::MultiplyInt4;
pub(crate) use row::{HIGHEST_OF_ATTENTION, Row};

use super::Epilogue;
use crate::{
    machine::{LaneWork, Lanes},
    number::Number,
};

/// Numbers in a vector, at most.
const LONGEST: usize = 16;

/// x diag(scales) wᵀ, where x is quantised row by row.
pub(crate) struct Multiply<'a, N, E, const IN: usize, const OUT: usize> {
    pub(crate) x: &'a [[N; IN]],
    pub(crate) scales: &'a [f32; OUT],
    pub(crate) w: &'a [[i8; IN]; OUT],
    pub(crate) then: E,
}

impl<N: Number, E: Epilogue<N>, const IN: usize, const OUT: usize> LaneWork<N> for Multiply<'_, N, E, IN, OUT> {
    #[inline(always)]
    fn run<M: Lanes<Number = N>>(mut self, m: M) {
        const { assert!(IN <= 1 << 17, "the sum of more than 2¹⁷ products may not fit 32 bits") }
        let (fours, rest) = self.x.as_chunks::<4>();
        let mut row = 0;
        if !fours.is_empty() {
            let mut tokens = Tokens::ZERO;
            for x in fours {
                tokens.quantize(x);
                self.four(m, row, &tokens);
                row += 4;
            }
        }
        for x in rest {
            let mut tokens = Tokens::ZERO;
            tokens.quantize(core::array::from_ref(x));
            self.one(m, row, &tokens);
            row += 1;
        }
    }
}

impl<N: Number, E: Epilogue<N>, const IN: usize, const OUT: usize> Multiply<'_, N, E, IN, OUT> {
    /// Four tokens: each row of w is read once for all of them.
    #[inline(always)]
    fn four<M: Lanes<Number = N>>(&mut self, m: M, row: usize, tokens: &Tokens<N, 4, IN>) {
        let mut done = 0;
        if const { M::LANES == 4 } {
            for (w, scales) in self.w.as_chunks::<4>().0.iter().zip(self.scales.as_chunks::<4>().0) {
                // Written out, as no loop is unrolled where code is to be small.
                let [a, b, c, d] = four_by_four(tokens, w, scales);
                self.then.store(m, row, done, 4, m.load(&a));
                self.then.store(m, row + 1, done, 4, m.load(&b));
                self.then.store(m, row + 2, done, 4, m.load(&c));
                self.then.store(m, row + 3, done, 4, m.load(&d));
                done += 4;
            }
        }
        let mut products = [[N::ZERO; LONGEST]; 4];
        let (w, scales) = (self.w.get(done..).unwrap_or_default(), self.scales.get(done..).unwrap_or_default());
        for (w, scales) in w.chunks(M::LANES).zip(scales.chunks(M::LANES)) {
            for (lane, (w, scale)) in w.iter().zip(scales).enumerate().take(LONGEST) {
                let sums = four_by_one(tokens, w);
                for ((products, sum), of_token) in products.iter_mut().zip(sums).zip(tokens.scales) {
                    products[lane] = N::product(sum, N::times(of_token, N::factor(*scale)));
                }
            }
            for (r, products) in products.iter().enumerate() {
                self.then.store(m, row + r, done, w.len(), m.load(products));
            }
            done += w.len();
        }
    }

    /// One token and, as long as there are as many, four rows of w.
    #[inline(always)]
    fn one<M: Lanes<Number = N>>(&mut self, m: M, row: usize, tokens: &Tokens<N, 1, IN>) {
        let [of_token] = tokens.scales;
        let mut done = 0;
        if const { M::LANES == 4 } {
            for (w, scales) in self.w.as_chunks::<4>().0.iter().zip(self.scales.as_chunks::<4>().0) {
                self.then.store(m, row, done, 4, m.load(&one_by_four_scaled(tokens, w, scales)));
                done += 4;
            }
        }
        let mut products = [N::ZERO; LONGEST];
        let (w, scales) = (self.w.get(done..).unwrap_or_default(), self.scales.get(done..).unwrap_or_default());
        for (w, scales) in w.chunks(M::LANES).zip(scales.chunks(M::LANES)) {
            let ((w_fours, w_rest), (scale_fours, scale_rest)) = (w.as_chunks::<4>(), scales.as_chunks::<4>());
            for ((w, scales), products) in w_fours.iter().zip(scale_fours).zip(products.as_chunks_mut::<4>().0) {
                *products = one_by_four_scaled(tokens, w, scales);
            }
            for ((w, scale), product) in w_rest.iter().zip(scale_rest).zip(products.iter_mut().skip(4 * w_fours.len()))
            {
                *product = N::product(one_by_one(tokens, w), N::times(of_token, N::factor(*scale)));
            }
            self.then.store(m, row, done, w.len(), m.load(&products));
            done += w.len();
        }
    }
}

/// The sum of the products of integers with weights in the same order.
#[inline(always)]
fn dot<'a>(x: impl Iterator<Item = &'a i16>, w: &[i8]) -> i32 {
    sum(x.zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)))
}

/// The sum. It fits but for a token with a NaN, whose integers mean nothing: its scale is NaN as well.
#[inline(always)]
fn sum(products: impl Iterator<Item = i32>) -> i32 {
    products.fold(0, i32::wrapping_add)
}

/// The products of four tokens with four rows of w, token by token.
#[inline(always)]
fn four_by_four<N: Number, const IN: usize>(
    tokens: &Tokens<N, 4, IN>,
    w: &[[i8; IN]; 4],
    scales: &[f32; 4],
) -> [[N; 4]; 4] {
    let ([w0, w1, w2, w3], [t0, t1, t2, t3]) = (w, tokens.scales);
    let scales = scales.map(N::factor);
    let [a0, b0, c0, d0] = four_by_one(tokens, w0);
    let [a1, b1, c1, d1] = four_by_one(tokens, w1);
    let [a2, b2, c2, d2] = four_by_one(tokens, w2);
    let [a3, b3, c3, d3] = four_by_one(tokens, w3);
    [
        scaled([a0, a1, a2, a3], t0, scales),
        scaled([b0, b1, b2, b3], t1, scales),
        scaled([c0, c1, c2, c3], t2, scales),
        scaled([d0, d1, d2, d3], t3, scales),
    ]
}

/// The products of a token with four rows of w.
#[inline(always)]
fn one_by_four_scaled<N: Number, const IN: usize>(
    tokens: &Tokens<N, 1, IN>,
    w: &[[i8; IN]; 4],
    scales: &[f32; 4],
) -> [N; 4] {
    scaled(one_by_four(tokens, w), tokens.scales[0], scales.map(N::factor))
}

/// Sums of the products of integers, times the scales of a token and of outputs.
#[inline(always)]
pub(crate) fn scaled<N: Number>([a, b, c, d]: [i32; 4], of_token: N::Factor, [s, t, u, v]: [N::Factor; 4]) -> [N; 4] {
    [
        N::product(a, N::times(of_token, s)),
        N::product(b, N::times(of_token, t)),
        N::product(c, N::times(of_token, u)),
        N::product(d, N::times(of_token, v)),
    ]
}
