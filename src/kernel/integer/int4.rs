//! Rows times a matrix of integers of 4 bits.

use super::{Int4Tokens, LONGEST, int4_four_by_one, int4_one_by_two};
use crate::{
    integer4::GROUP,
    kernel::Epilogue,
    machine::{Machine, Work},
};

/// x wᵀ, where x is quantised row by row, and w is integers times factors times a scale for each output.
pub(crate) struct MultiplyInt4<'a, E, const IN: usize, const OUT: usize> {
    pub(crate) x: &'a [[f32; IN]],
    pub(crate) scales: &'a [f32; OUT],
    pub(crate) factors: &'a [u8],
    pub(crate) integers: &'a [u8],
    pub(crate) then: E,
}

impl<E: Epilogue, const IN: usize, const OUT: usize> Work for MultiplyInt4<'_, E, IN, OUT> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(mut self, m: M) {
        // An image may have -8 as well.
        const { assert!(IN <= 8288, "in `Int4`, the sum of more than 8288 products may not fit 32 bits") }
        let (fours, rest) = self.x.as_chunks::<4>();
        let mut row = 0;
        if !fours.is_empty() {
            let mut tokens = Int4Tokens::ZERO;
            for x in fours {
                tokens.quantize(x);
                self.four(m, row, &tokens);
                row += 4;
            }
        }
        for x in rest {
            let mut tokens = Int4Tokens::ZERO;
            tokens.quantize(core::array::from_ref(x));
            self.one(m, row, &tokens);
            row += 1;
        }
    }
}

impl<'a, E: Epilogue, const IN: usize, const OUT: usize> MultiplyInt4<'a, E, IN, OUT> {
    /// The factors, the integers and the scale of each row.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8], f32)> + use<'a, E, IN, OUT> {
        let (factors, integers) = (const { IN.div_ceil(GROUP) }, const { IN.div_ceil(2) });
        let rows = self.factors.chunks_exact(factors.max(1)).zip(self.integers.chunks_exact(integers.max(1)));
        rows.zip(self.scales).map(|((factors, integers), scale)| (factors, integers, *scale))
    }

    /// Four tokens: each row of w is read once for all of them.
    #[inline(always)]
    fn four<M: Machine>(&mut self, m: M, row: usize, tokens: &Int4Tokens<4, IN>) {
        let mut rows = self.rows();
        for column in (0..OUT).step_by(M::LANES) {
            let count = M::LANES.min(OUT - column);
            let mut products = [[0.0; LONGEST]; 4];
            for (lane, (factors, integers, scale)) in rows.by_ref().take(count).enumerate().take(LONGEST) {
                let sums = int4_four_by_one(tokens, factors, integers);
                for ((products, sum), of_token) in products.iter_mut().zip(sums).zip(tokens.scales) {
                    products[lane] = sum as f32 * (of_token * scale);
                }
            }
            for (r, products) in products.iter().enumerate() {
                self.then.store(m, row + r, column, count, m.load(products));
            }
        }
    }

    /// One token and, as long as there are as many, two rows of w.
    #[inline(always)]
    fn one<M: Machine>(&mut self, m: M, row: usize, tokens: &Int4Tokens<1, IN>) {
        let [of_token] = tokens.scales;
        let mut rows = self.rows();
        for column in (0..OUT).step_by(M::LANES) {
            let count = M::LANES.min(OUT - column);
            let mut products = [0.0; LONGEST];
            for pair in products.as_chunks_mut::<2>().0.iter_mut().take(count.div_ceil(2)) {
                let Some((factors, integers, scale)) = rows.next() else { continue };
                // An odd number of rows ends with one twice.
                let (other_factors, other_integers, other_scale) = rows.next().unwrap_or((factors, integers, scale));
                let [a, b] = int4_one_by_two(tokens, [factors, other_factors], [integers, other_integers]);
                *pair = [a as f32 * (of_token * scale), b as f32 * (of_token * other_scale)];
            }
            self.then.store(m, row, column, count, m.load(&products));
        }
    }
}
