//! Rows times a matrix of integers of 4 bits.

use super::{Int4Tokens, LONGEST, int4_four_by_one, int4_one_by_one, int4_one_by_two, scaled};
use crate::{
    integer4::MOST_INPUTS,
    kernel::Epilogue,
    machine::{LaneWork, Lanes},
    number::Number,
    shape::Bytes,
};

/// x wᵀ, where x is quantised row by row, and w is integers times factors times a scale for each output.
pub(crate) struct MultiplyInt4<'a, N, E, Factors, Integers, const IN: usize, const OUT: usize> {
    pub(crate) x: &'a [[N; IN]],
    pub(crate) scales: &'a [f32; OUT],
    pub(crate) factors: &'a [Factors; OUT],
    pub(crate) integers: &'a [Integers; OUT],
    pub(crate) then: E,
}

impl<N: Number, E: Epilogue<N>, F: Bytes, I: Bytes, const IN: usize, const OUT: usize> LaneWork<N>
    for MultiplyInt4<'_, N, E, F, I, IN, OUT>
{
    #[inline(always)]
    fn run<M: Lanes<Number = N>>(mut self, m: M) {
        const { assert!(IN <= MOST_INPUTS, "a matrix in `Int4` has up to 8288 inputs: sums of integers have room for those") }
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

impl<'a, N: Number, E: Epilogue<N>, F: Bytes, I: Bytes, const IN: usize, const OUT: usize>
    MultiplyInt4<'a, N, E, F, I, IN, OUT>
{
    /// Four tokens: each row of w is read once for all of them.
    #[inline(always)]
    fn four<M: Lanes<Number = N>>(&mut self, m: M, row: usize, tokens: &Int4Tokens<N, 4, IN>) {
        let mut done = 0;
        if const { M::LANES == 4 } {
            let rows = self.factors.as_chunks().0.iter().zip(self.integers.as_chunks().0);
            for ((factors, w), scales) in rows.zip(self.scales.as_chunks().0) {
                // Written out, as no loop is unrolled where code is to be small.
                let [a, b, c, d] = four_by_four(tokens, factors, w, scales);
                self.then.store(m, row, done, 4, m.load(&a));
                self.then.store(m, row + 1, done, 4, m.load(&b));
                self.then.store(m, row + 2, done, 4, m.load(&c));
                self.then.store(m, row + 3, done, 4, m.load(&d));
                done += 4;
            }
        }
        let mut products = [[N::ZERO; LONGEST]; 4];
        let (factors, w, scales) = self.from(done);
        for ((factors, w), scales) in factors.chunks(M::LANES).zip(w.chunks(M::LANES)).zip(scales.chunks(M::LANES)) {
            for (lane, ((factors, w), scale)) in factors.iter().zip(w).zip(scales).enumerate().take(LONGEST) {
                let sums = int4_four_by_one(tokens, factors.as_bytes(), w.as_bytes());
                for ((products, sum), of_token) in products.iter_mut().zip(sums).zip(tokens.scales) {
                    products[lane] = N::product(sum, N::times(of_token, N::factor(*scale)));
                }
            }
            for (r, products) in products.iter().enumerate() {
                self.then.store(m, row + r, done, scales.len(), m.load(products));
            }
            done += scales.len();
        }
    }

    /// One token and, as long as there are as many, four rows of w.
    #[inline(always)]
    fn one<M: Lanes<Number = N>>(&mut self, m: M, row: usize, tokens: &Int4Tokens<N, 1, IN>) {
        let mut done = 0;
        if const { M::LANES == 4 } {
            let (factors, w) = (self.factors.as_chunks().0.as_chunks().0, self.integers.as_chunks().0.as_chunks().0);
            for ((factors, w), scales) in factors.iter().zip(w).zip(self.scales.as_chunks().0) {
                self.then.store(m, row, done, 4, m.load(&one_by_four(tokens, factors, w, scales)));
                done += 4;
            }
        }
        let [of_token] = tokens.scales;
        let mut products = [N::ZERO; LONGEST];
        let (factors, w, scales) = self.from(done);
        for ((factors, w), scales) in factors.chunks(M::LANES).zip(w.chunks(M::LANES)).zip(scales.chunks(M::LANES)) {
            for (product, ((factors, w), scale)) in products.iter_mut().zip(factors.iter().zip(w).zip(scales)) {
                let sum = int4_one_by_one(tokens, factors.as_bytes(), w.as_bytes());
                *product = N::product(sum, N::times(of_token, N::factor(*scale)));
            }
            self.then.store(m, row, done, scales.len(), m.load(&products));
            done += scales.len();
        }
    }

    /// The rows of w from one on.
    #[inline(always)]
    fn from(&self, row: usize) -> (&'a [F], &'a [I], &'a [f32]) {
        let (factors, w) = (self.factors.get(row..).unwrap_or_default(), self.integers.get(row..).unwrap_or_default());
        (factors, w, self.scales.get(row..).unwrap_or_default())
    }
}

/// The products of four tokens with four rows of w, token by token.
#[inline(always)]
fn four_by_four<N: Number, F: Bytes, I: Bytes, const IN: usize>(
    tokens: &Int4Tokens<N, 4, IN>,
    [f0, f1, f2, f3]: &[F; 4],
    [w0, w1, w2, w3]: &[I; 4],
    scales: &[f32; 4],
) -> [[N; 4]; 4] {
    let ([t0, t1, t2, t3], scales) = (tokens.scales, scales.map(N::factor));
    let [a0, b0, c0, d0] = int4_four_by_one(tokens, f0.as_bytes(), w0.as_bytes());
    let [a1, b1, c1, d1] = int4_four_by_one(tokens, f1.as_bytes(), w1.as_bytes());
    let [a2, b2, c2, d2] = int4_four_by_one(tokens, f2.as_bytes(), w2.as_bytes());
    let [a3, b3, c3, d3] = int4_four_by_one(tokens, f3.as_bytes(), w3.as_bytes());
    [
        scaled([a0, a1, a2, a3], t0, scales),
        scaled([b0, b1, b2, b3], t1, scales),
        scaled([c0, c1, c2, c3], t2, scales),
        scaled([d0, d1, d2, d3], t3, scales),
    ]
}

/// The products of a token with two rows of w and two more.
#[inline(always)]
fn one_by_four<N: Number, F: Bytes, I: Bytes, const IN: usize>(
    tokens: &Int4Tokens<N, 1, IN>,
    [f01, f23]: &[[F; 2]; 2],
    [w01, w23]: &[[I; 2]; 2],
    scales: &[f32; 4],
) -> [N; 4] {
    let ([t], [a, b], [c, d]) = (tokens.scales, int4_one_by_two(tokens, f01, w01), int4_one_by_two(tokens, f23, w23));
    scaled([a, b, c, d], t, scales.map(N::factor))
}
