//! Rows times a matrix, in register tiles.

use super::Epilogue;
use crate::machine::Machine;
use core::ops::Range;

/// Columns of a panel of packed weights: at least two vectors on any machine.
pub(crate) const PANEL: usize = 32;

/// x w, where x is the columns `inputs` of its rows, and w the columns `columns` of its rows.
///
/// So nothing is copied: a head is a range of columns; a panel, the values and the transposed keys are all rows.
pub(crate) struct Product<'a, const D: usize, const N: usize> {
    pub(crate) x: &'a [[f32; D]],
    /// At most D; as many as w has rows.
    pub(crate) inputs: Range<usize>,
    pub(crate) w: &'a [[f32; N]],
    /// At most N.
    pub(crate) columns: Range<usize>,
    /// What the epilogue calls the first column.
    pub(crate) first: usize,
}

impl<const D: usize, const N: usize> Product<'_, D, N> {
    /// Hands the product to `epilogue`. `WHOLE`: the columns are all N of them.
    ///
    /// Columns outermost: each weight is read from memory once, and used for all rows.
    #[inline(always)]
    pub(crate) fn run<M: Machine, const WHOLE: bool>(&self, m: M, epilogue: &mut impl Epilogue) {
        if const { N >= M::LANES } {
            self.strips::<M, WHOLE>(m, epilogue);
        } else {
            self.strips::<M::One, WHOLE>(m.one(), epilogue);
        }
    }

    #[inline(always)]
    fn strips<M: Machine, const WHOLE: bool>(&self, m: M, epilogue: &mut impl Epilogue) {
        let end = self.columns.end.min(N);
        let mut column = self.columns.start;
        while column < end {
            let wide = if WHOLE { true } else { end - column > M::LANES };
            if const { M::VECTORS == 2 && N >= 2 * M::LANES } && wide {
                self.strip::<M, 2>(m, column, epilogue);
                column += 2 * M::LANES;
            } else if const { !WHOLE || M::VECTORS == 1 || N < 2 * M::LANES } {
                self.strip::<M, 1>(m, column, epilogue);
                column += M::LANES;
            }
        }
    }

    /// All rows of the `V` vectors of columns that begin at `column`.
    #[inline(always)]
    fn strip<M: Machine, const V: usize>(&self, m: M, column: usize, epilogue: &mut impl Epilogue) {
        let mut row = 0;
        if const { M::ROWS == 8 } {
            row = self.tiles::<M, 8, V>(m, row, column, epilogue);
        } else if const { M::ROWS == 6 } {
            row = self.tiles::<M, 6, V>(m, row, column, epilogue);
        }
        row = self.tiles::<M, 4, V>(m, row, column, epilogue);
        self.tiles::<M, 1, V>(m, row, column, epilogue);
    }

    /// As many tiles of `R` rows as there are, from `row` on; returns the row after them.
    #[inline(always)]
    fn tiles<M: Machine, const R: usize, const V: usize>(
        &self,
        m: M,
        mut row: usize,
        column: usize,
        epilogue: &mut impl Epilogue,
    ) -> usize {
        // A tile is always full: the last one of a ragged matrix starts early, and what it repeats is left out.
        let start = column.min(N - V * M::LANES);
        let width = (self.columns.end - column).min(V * M::LANES);
        let to = self.first + column - self.columns.start;
        let mut sums = [[0.0; PANEL]; R];
        let (tiles, _) = self.x.get(row..).unwrap_or_default().as_chunks::<R>();
        for x in tiles {
            tile::<M, R, V, D, N>(m, x, self.inputs.clone(), self.w, start, &mut sums);
            for sums in &sums {
                if width == V * M::LANES {
                    for (v, sums) in sums.chunks_exact(M::LANES).take(V).enumerate() {
                        epilogue.store(m, row, to + v * M::LANES, m.load(sums));
                    }
                } else {
                    let one = m.one();
                    let sums = sums.get(column - start..).unwrap_or_default();
                    for (i, sum) in (0..width).zip(sums) {
                        epilogue.store(one, row, to + i, one.splat(*sum));
                    }
                }
                row += 1;
            }
        }
        row
    }
}

/// The sums of `R` rows and `V` vectors of columns, kept in registers.
#[inline(always)]
fn tile<M: Machine, const R: usize, const V: usize, const D: usize, const N: usize>(
    m: M,
    x: &[[f32; D]; R],
    inputs: Range<usize>,
    w: &[[f32; N]],
    column: usize,
    out: &mut [[f32; PANEL]; R],
) {
    if inputs.end > D || column + V * M::LANES > N {
        return; // never, and so told to the compiler, which need not check in the loop
    }
    let mut sums = [[m.splat(0.0); V]; R];
    for (i, w) in inputs.zip(w) {
        let mut vectors = [m.splat(0.0); V];
        for v in 0..V {
            vectors[v] = m.load(&w[column + v * M::LANES..][..M::LANES]);
        }
        for r in 0..R {
            let x = m.splat(x[r][i]);
            for v in 0..V {
                sums[r][v] = m.mul_add(x, vectors[v], sums[r][v]);
            }
        }
    }
    for r in 0..R {
        for v in 0..V {
            m.store(sums[r][v], &mut out[r][v * M::LANES..][..M::LANES]);
        }
    }
}
