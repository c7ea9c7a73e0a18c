//! Rows times a matrix of integers: rows are quantised, sums are integers.

#[cfg(constformer_dsp)]
mod dsp;
#[cfg(not(constformer_dsp))]
mod portable;

#[cfg(constformer_dsp)]
use dsp::{Tokens, four_by_one, one_by_four, one_by_one};
#[cfg(not(constformer_dsp))]
use portable::{Tokens, four_by_one, one_by_four, one_by_one};

use super::Epilogue;
use crate::machine::{Machine, Work};

/// Numbers in a vector, at most.
const LONGEST: usize = 16;

/// x diag(scales) wᵀ, where x is quantised row by row.
pub(crate) struct Multiply<'a, E, const IN: usize, const OUT: usize> {
    pub(crate) x: &'a [[f32; IN]],
    pub(crate) scales: &'a [f32; OUT],
    pub(crate) w: &'a [[i8; IN]; OUT],
    pub(crate) then: E,
}

impl<E: Epilogue, const IN: usize, const OUT: usize> Work for Multiply<'_, E, IN, OUT> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(mut self, m: M) {
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

impl<E: Epilogue, const IN: usize, const OUT: usize> Multiply<'_, E, IN, OUT> {
    /// Four tokens: each row of w is read once for all of them.
    #[inline(always)]
    fn four<M: Machine>(&mut self, m: M, row: usize, tokens: &Tokens<4, IN>) {
        let mut products = [[0.0; LONGEST]; 4];
        let groups = self.w.chunks(M::LANES).zip(self.scales.chunks(M::LANES));
        for (group, (w, scales)) in groups.enumerate() {
            for (lane, (w, scale)) in w.iter().zip(scales).enumerate().take(LONGEST) {
                let sums = four_by_one(tokens, w);
                for ((products, sum), of_token) in products.iter_mut().zip(sums).zip(tokens.scales) {
                    products[lane] = sum as f32 * (of_token * scale);
                }
            }
            for (r, products) in products.iter().enumerate() {
                self.then.store(m, row + r, group * M::LANES, w.len(), m.load(products));
            }
        }
    }

    /// One token and, as long as there are as many, four rows of w.
    #[inline(always)]
    fn one<M: Machine>(&mut self, m: M, row: usize, tokens: &Tokens<1, IN>) {
        let [of_token] = tokens.scales;
        let mut products = [0.0; LONGEST];
        let groups = self.w.chunks(M::LANES).zip(self.scales.chunks(M::LANES));
        for (group, (w, scales)) in groups.enumerate() {
            let ((w_fours, w_rest), (scale_fours, scale_rest)) = (w.as_chunks::<4>(), scales.as_chunks::<4>());
            for ((w, scales), products) in w_fours.iter().zip(scale_fours).zip(products.as_chunks_mut::<4>().0) {
                let [a, b, c, d] = one_by_four(tokens, w);
                let [s, t, u, v] = scales.map(|scale| of_token * scale);
                *products = [a as f32 * s, b as f32 * t, c as f32 * u, d as f32 * v];
            }
            for ((w, scale), product) in w_rest.iter().zip(scale_rest).zip(products.iter_mut().skip(4 * w_fours.len()))
            {
                *product = one_by_one(tokens, w) as f32 * (of_token * scale);
            }
            self.then.store(m, row, group * M::LANES, w.len(), m.load(&products));
        }
    }
}
