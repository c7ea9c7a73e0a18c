//! Rows times a matrix of integers of 4 bits: each of its rows is unpacked once for up to four tokens.

use super::{LONGEST, Row};
use crate::{
    integer4::{GROUP, unpack},
    kernel::Epilogue,
    machine::{LaneWork, Lanes},
    number::Number,
    plain::Zero,
};

/// x wᵀ, where x is quantised row by row, and w is integers times factors times a scale for each output.
pub(crate) struct MultiplyInt4<'a, N, E, const IN: usize, const OUT: usize> {
    pub(crate) x: &'a [[N; IN]],
    pub(crate) scales: &'a [f32; OUT],
    pub(crate) factors: &'a [u8],
    pub(crate) integers: &'a [u8],
    pub(crate) then: E,
}

/// Tokens that an unpacked row is multiplied with.
const TOKENS: usize = 4;

impl<N: Number, E: Epilogue<N>, const IN: usize, const OUT: usize> LaneWork<N> for MultiplyInt4<'_, N, E, IN, OUT> {
    #[inline(always)]
    fn run<M: Lanes<Number = N>>(mut self, m: M) {
        const { assert!(IN <= 9472, "the sum of more than 9472 products may not fit 32 bits") }
        let mut tokens = [const { Row::<IN>::ZERO }; TOKENS];
        let (mut of_tokens, mut w) = ([N::factor(0.0); TOKENS], Row::<IN>::ZERO);
        for (x, first) in self.x.chunks(TOKENS).zip((0..).step_by(TOKENS)) {
            for ((x, token), of_token) in x.iter().zip(&mut tokens).zip(&mut of_tokens) {
                *of_token = token.quantize::<N, 127>(x, N::greatest_magnitude(x));
            }
            let rows = self.factors.chunks(IN.div_ceil(GROUP).max(1)).zip(self.integers.chunks(IN.div_ceil(2).max(1)));
            let mut rows = rows.zip(self.scales);
            for column in (0..OUT).step_by(M::LANES) {
                let count = M::LANES.min(OUT - column);
                let mut products = [[N::ZERO; LONGEST]; TOKENS];
                for (lane, ((factors, integers), scale)) in rows.by_ref().take(count).enumerate().take(LONGEST) {
                    w.set(|w| unpack(factors, integers, w));
                    for (((products, token), of_token), _) in products.iter_mut().zip(&tokens).zip(of_tokens).zip(x) {
                        products[lane] = N::product(token.dot_row(&w), N::times(of_token, N::factor(*scale)));
                    }
                }
                for (row, products) in (first..).zip(&products).take(x.len()) {
                    self.then.store(m, row, column, count, m.load(products));
                }
            }
        }
    }
}
