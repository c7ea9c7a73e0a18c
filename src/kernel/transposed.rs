//! Rows times a transposed matrix: the way back through a linear map, scores of queries and keys, a tied head.

use super::{Epilogue, PANEL, Product, scalar::is_scalar};
use crate::machine::Machine;
use core::ops::Range;

/// x wᵀ, where x is the columns `inputs` of its rows, and w as many columns of rows that are `stride` numbers apart.
///
/// w is turned a block of 32 rows and up to 128 columns at a time, and each block multiplied with all rows of x: so there is no second copy
/// of w. The product comes as sums over the columns of a block, which `epilogue` must add up.
pub(crate) struct TransposedProduct<'a, const D: usize> {
    pub(crate) x: &'a [[f32; D]],
    pub(crate) inputs: Range<usize>,
    /// Begins with the first of the columns that are wanted, of the first row.
    pub(crate) w: &'a [f32],
    pub(crate) stride: usize,
    /// Numbers from 32 columns of w to the next 32: 32, if w is no matrix in panels.
    pub(crate) panel: usize,
    /// Rows of w: columns of the product.
    pub(crate) rows: usize,
}

impl<const D: usize> TransposedProduct<'_, D> {
    /// Hands the product to `epilogue`, which adds.
    #[inline(always)]
    pub(crate) fn run<M: Machine>(&self, m: M, epilogue: &mut impl Epilogue) {
        if const { is_scalar::<M>() } {
            self.blocks::<M, 8, 1>(m, epilogue); // the block lies on the stack
        } else if self.inputs.len() <= PANEL {
            self.blocks::<M, PANEL, 1>(m, epilogue);
        } else {
            self.blocks::<M, PANEL, 4>(m, epilogue); // sums are added up a quarter as often
        }
    }

    /// In blocks of `ROWS` rows of w and `P` times 32 columns.
    #[inline(always)]
    fn blocks<M: Machine, const ROWS: usize, const P: usize>(&self, m: M, epilogue: &mut impl Epilogue) {
        let mut turned = [[[0.0; ROWS]; PANEL]; P];
        for first in (0..self.rows).step_by(ROWS) {
            let columns = ROWS.min(self.rows - first);
            for input in self.inputs.clone().step_by(P * PANEL) {
                let inputs = input..self.inputs.end.min(input + P * PANEL);
                let panel = (input - self.inputs.start) / PANEL;
                for (i, turned) in turned.iter_mut().enumerate() {
                    let count = PANEL.min(inputs.len().saturating_sub(i * PANEL));
                    let w = self.w.get((panel + i) * self.panel + first * self.stride..).unwrap_or_default();
                    turn(w, self.stride, columns, count, turned);
                }
                let w = turned.as_flattened().as_flattened().get(..inputs.len() * ROWS).unwrap_or_default();
                let (x, stride) = (self.x, ROWS);
                let product = Product::<_, ROWS> { x, inputs, w, stride, from: 0, columns, first, next: &[] };
                product.run(m, epilogue);
            }
        }
    }
}

/// The first `columns` numbers of `rows` rows of `w` become as many columns of `turned`.
#[inline(always)]
fn turn<const ROWS: usize>(w: &[f32], stride: usize, rows: usize, columns: usize, turned: &mut [[f32; ROWS]; PANEL]) {
    let mut row = 0;
    // Squares of four by four, which compilers turn in registers; of eight by eight they make twice as many instructions a number.
    while columns == PANEL && row + 4 <= rows.min(ROWS) {
        let mut four = [&[[0.0; 4]; PANEL / 4]; 4];
        for (i, four) in four.iter_mut().enumerate() {
            let Some(w) = w.get((row + i) * stride..).and_then(|w| w.as_chunks().0.first_chunk()) else { return };
            *four = w;
        }
        for column in 0..PANEL / 4 {
            let [a, b, c, d] = four.map(|row| row[column]);
            for i in 0..4 {
                let to = turned[4 * column + i].get_mut(row..).and_then(|to| to.first_chunk_mut::<4>());
                let Some(to) = to else { return };
                *to = [a[i], b[i], c[i], d[i]];
            }
        }
        row += 4;
    }
    while row < rows.min(ROWS) {
        let w = w.get(row * stride..).unwrap_or_default();
        for column in 0..columns.min(w.len()).min(PANEL) {
            turned[column][row] = w[column];
        }
        row += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Add, *};
    use crate::machine::{Work, dispatch};

    struct Run<'a>(TransposedProduct<'a, 71>, &'a mut [[f32; 45]]);

    impl Work for Run<'_> {
        type Output = ();

        #[inline(always)]
        fn run<M: Machine>(self, m: M) {
            self.0.run(m, &mut Add(self.1));
        }
    }

    /// Parts of odd widths, against the definition.
    #[test]
    fn it_is_the_product_with_the_transposed_matrix() {
        let number = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 - 11.0;
        let x: [[f32; 71]; 5] = core::array::from_fn(|t| core::array::from_fn(|i| number(t, i)));
        let w: [[f32; 75]; 45] = core::array::from_fn(|row| core::array::from_fn(|column| number(column, row)));
        for (inputs, from, rows) in [(0..71, 0, 45), (2..71, 3, 33), (1..2, 74, 1), (0..32, 5, 32), (3..3, 0, 4)] {
            let mut y = [[1.0; 45]; 5];
            let part = &w.as_flattened()[from..];
            dispatch(Run(
                TransposedProduct { x: &x, inputs: inputs.clone(), w: part, stride: 75, panel: PANEL, rows },
                &mut y,
            ));
            for (x, y) in x.iter().zip(&y) {
                for (row, found) in y.iter().enumerate() {
                    let terms = inputs.clone().map(|i| x[i] * w[row][from + i - inputs.start]);
                    let expected = 1.0 + if row < rows { terms.sum() } else { 0.0 };
                    assert_eq!(*found, expected, "{inputs:?} {from} {rows} at {row}");
                }
            }
        }
    }
}
