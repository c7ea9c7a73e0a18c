//! Sums of outer products: the gradient of a matrix.

use crate::machine::Machine;
use core::ops::Range;

/// w + xᵀ y, where x is the columns `inputs` of its rows, and y as many columns of its rows as w has, from `from` on.
///
/// A number of w is one sum over the rows in their order, whatever the machine's width.
pub(crate) struct OuterProducts<'a, const X: usize, const Y: usize> {
    pub(crate) x: &'a [[f32; X]],
    /// A row of w for each.
    pub(crate) inputs: Range<usize>,
    pub(crate) y: &'a [[f32; Y]],
    pub(crate) from: usize,
    /// Columns of w.
    pub(crate) columns: usize,
}

impl<const X: usize, const Y: usize> OuterProducts<'_, X, Y> {
    /// Adds to w, whose rows are `stride` numbers apart.
    #[inline(always)]
    pub(crate) fn add_to<M: Machine>(&self, m: M, w: &mut [f32], stride: usize) {
        if const { M::VECTORS == 2 } {
            self.strips::<M, 2>(m, w, stride);
        } else {
            self.strips::<M, 1>(m, w, stride);
        }
    }

    #[inline(always)]
    fn strips<M: Machine, const V: usize>(&self, m: M, w: &mut [f32], stride: usize) {
        let (mut column, wide) = (0, V * M::LANES);
        while column + wide <= self.columns {
            self.strip::<M, V>(m, w, stride, column, wide);
            column += wide;
        }
        while column < self.columns {
            let count = M::LANES.min(self.columns - column);
            self.strip::<M, 1>(m, w, stride, column, count);
            column += count;
        }
    }

    /// The columns of w from `column` on, `count` of them.
    #[inline(always)]
    fn strip<M: Machine, const V: usize>(&self, m: M, w: &mut [f32], stride: usize, column: usize, count: usize) {
        let (mut input, end) = (self.inputs.start, self.inputs.end);
        while input < end {
            let w = w.get_mut((input - self.inputs.start) * stride + column..).unwrap_or_default();
            let left = end - input;
            input += if const { M::ROWS == 8 } && left >= 8 {
                self.tile::<M, 8, V>(m, w, stride, input, column, count)
            } else if const { M::ROWS == 6 } && left >= 6 && !matches!(left, 7 | 8) {
                self.tile::<M, 6, V>(m, w, stride, input, column, count)
            } else if left >= 4 {
                self.tile::<M, 4, V>(m, w, stride, input, column, count)
            } else if left >= 2 {
                self.tile::<M, 2, V>(m, w, stride, input, column, count)
            } else {
                self.tile::<M, 1, V>(m, w, stride, input, column, count)
            };
        }
    }

    /// Adds to `R` rows of w, which begins with the first of them; returns `R`.
    #[inline(always)]
    fn tile<M: Machine, const R: usize, const V: usize>(
        &self,
        m: M,
        w: &mut [f32],
        stride: usize,
        input: usize,
        column: usize,
        count: usize,
    ) -> usize {
        let mut sums = [[m.splat(0.0); V]; R];
        for (x, y) in self.x.iter().zip(self.y) {
            let Some(x) = x.get(input..).and_then(|x| x.first_chunk::<R>()) else { return R };
            let Some(y) = y.get(self.from + column..).and_then(|y| y.get(..count)) else { return R };
            let mut vectors = [m.splat(0.0); V];
            for (v, vector) in vectors.iter_mut().enumerate() {
                // What is whole is known to the compiler to be so.
                let whole = y.get(v * M::LANES..(v + 1) * M::LANES);
                *vector = m.load(whole.unwrap_or(y));
            }
            for r in 0..R {
                let x = m.splat(x[r]);
                for v in 0..V {
                    sums[r][v] = m.mul_add(x, vectors[v], sums[r][v]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let Some(w) = w.get_mut(r * stride..).and_then(|w| w.get_mut(..count)) else { return R };
            for (v, sum) in sums.iter().enumerate() {
                let Some(w) = w.get_mut(v * M::LANES..) else { return R };
                m.store(m.add(m.load(w), *sum), w);
            }
        }
        R
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Work, dispatch};

    struct Run<'a>(OuterProducts<'a, 13, 37>, &'a mut [f32], usize);

    impl Work for Run<'_> {
        type Output = ();

        #[inline(always)]
        fn run<M: Machine>(self, m: M) {
            self.0.add_to(m, self.1, self.2);
        }
    }

    /// Parts of odd widths, against the definition; what lies around them stays.
    #[test]
    fn they_are_added_where_they_belong_and_nowhere_else() {
        let number = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 - 11.0;
        let x: [[f32; 13]; 5] = core::array::from_fn(|t| core::array::from_fn(|i| number(t, i)));
        let y: [[f32; 37]; 5] = core::array::from_fn(|t| core::array::from_fn(|c| number(c, t)));
        for (inputs, from, columns) in [(0..13, 0, 37), (2..13, 3, 33), (1..2, 36, 1), (0..7, 5, 17), (3..3, 0, 4)] {
            let stride = columns + 2;
            let mut w = [1.0; 13 * 39];
            dispatch(Run(OuterProducts { x: &x, inputs: inputs.clone(), y: &y, from, columns }, &mut w, stride));
            for (place, found) in w.iter().enumerate() {
                let (row, column) = (place / stride, place % stride);
                let inside = row < inputs.len() && column < columns;
                let terms = x.iter().zip(&y).map(|(x, y)| x[inputs.start + row] * y[from + column]);
                let expected = 1.0 + if inside { terms.sum() } else { 0.0 };
                assert_eq!(*found, expected, "{inputs:?} {from} {columns} at {row}, {column}");
            }
        }
    }
}
