//! Products on a processor whose registers hold one number each, 32 of them: a Cortex-M4F.
//!
//! Sixteen sums fit. They are written out, since no optimiser for size unrolls loops over a tile, which then lies in memory: six
//! times the instructions. What computes them is no part of what stores them, so that the many epilogues share it.

#[cfg(not(constformer_vldm))]
mod portable;
#[cfg(constformer_vldm)]
mod vldm;

#[cfg(not(constformer_vldm))]
use portable::{STRIP, of_eights, of_row, row_of_panel};
#[cfg(constformer_vldm)]
use vldm::{STRIP, of_eights, of_row, row_of_panel};

use super::{Epilogue, PANEL, Product};
use crate::machine::{Lanes, Machine, Plain};

/// Four rows by four columns, or a row of sixteen.
type Tile = [[f32; 4]; 4];

/// Whether a machine is such a processor.
pub(crate) const fn is_scalar<M: Machine>() -> bool {
    M::LANES == 4 && M::VECTORS == 1
}

/// Rows times panels of a matrix that lie one after the other.
pub(crate) struct ScalarPanels<'a, const D: usize> {
    pub(crate) x: &'a [[f32; D]],
    pub(crate) panels: &'a [f32],
}

impl<const D: usize> ScalarPanels<'_, D> {
    /// Hands the product to `epilogue`.
    #[inline(always)]
    pub(crate) fn run<M: Machine>(&self, m: M, epilogue: &mut impl Epilogue) {
        let (fours, rest) = self.x.as_chunks::<4>();
        let done = self.x.len() - rest.len();
        for (i, panel) in self.panels.as_chunks().0.chunks(D.max(1)).enumerate() {
            for column in (0..PANEL).step_by(4) {
                for (four, x) in fours.iter().enumerate() {
                    store(m, epilogue, [4 * four, i * PANEL + column], [1, 0], 4, &of_panel(x, panel, column));
                }
            }
            for (row, x) in (done..).zip(rest) {
                for column in [0, 16] {
                    store(m, epilogue, [row, i * PANEL + column], [0, 4], 4, &row_of_panel(x, panel, column));
                }
            }
        }
    }
}

/// Hands the four vectors of a tile to `epilogue`, the first for a row and columns from one on, the others `step` further each.
fn store<M: Machine>(
    m: M,
    epilogue: &mut impl Epilogue,
    [mut row, mut column]: [usize; 2],
    step: [usize; 2],
    count: usize,
    tile: &Tile,
) {
    for sums in tile {
        epilogue.store(m, row, column, count, m.load(sums));
        row += step[0];
        column += step[1];
    }
}

impl<const D: usize, const STRIDE: usize> Product<'_, D, STRIDE> {
    /// Hands the product to `epilogue`.
    #[inline(always)]
    pub(super) fn scalar<M: Machine>(&self, m: M, epilogue: &mut impl Epilogue) {
        let whole = if self.stride == STRIDE && self.from + self.columns <= STRIDE { self.columns / 4 * 4 } else { 0 };
        let fours = self.x.as_chunks::<4>().0;
        let w = self.w.as_chunks::<STRIDE>().0;
        for column in (0..whole).step_by(4) {
            for (four, x) in fours.iter().enumerate() {
                let x = x.each_ref().map(|x| self.inputs_of(x));
                let tile = of_far_rows(x, w, self.from + column);
                store(m, epilogue, [4 * four, self.first + column], [1, 0], 4, &tile);
            }
        }
        // What is left over: of these rows some columns, of the others all.
        let done = 4 * fours.len();
        for (row, x) in self.x.iter().enumerate() {
            for column in (if row < done { whole } else { 0 }..self.columns).step_by(STRIP) {
                let w = self.w.get(self.from + column..).unwrap_or_default();
                let sums = of_row(self.inputs_of(x), w, self.stride, self.columns - column);
                for (v, sums) in (column..self.columns).step_by(4).zip(&sums) {
                    epilogue.store(m, row, self.first + v, 4.min(self.columns - v), m.load(sums));
                }
            }
        }
    }

    #[inline(always)]
    fn inputs_of<'x>(&self, x: &'x [f32; D]) -> &'x [f32] {
        x.get(self.inputs.clone()).unwrap_or_default()
    }
}

/// a + x w
#[inline(always)]
fn add([a0, a1, a2, a3]: [f32; 4], x: f32, [w0, w1, w2, w3]: [f32; 4]) -> [f32; 4] {
    [x * w0 + a0, x * w1 + a1, x * w2 + a2, x * w3 + a3]
}

/// Four columns, which there are: so the compiler is told, and need not check.
#[inline(always)]
fn four<const STRIDE: usize>(row: &[f32; STRIDE], column: usize) -> [f32; 4] {
    row.get(column.min(STRIDE.saturating_sub(4))..).and_then(|row| row.first_chunk()).copied().unwrap_or_default()
}

/// Four rows times four columns of a panel. Rows of up to 64 inputs are within reach of one address, which is worth a function of their own.
#[inline(always)]
fn of_panel<const D: usize>(x: &[[f32; D]; 4], panel: &[[f32; PANEL]], column: usize) -> Tile {
    if const { D >= 16 && D <= 64 } {
        of_near_rows(x, panel, column)
    } else {
        of_far_rows(x.each_ref().map(|x| &x[..]), panel, column)
    }
}

#[inline(never)]
fn of_near_rows<const D: usize>(x: &[[f32; D]; 4], panel: &[[f32; PANEL]], column: usize) -> Tile {
    if panel.is_empty() {
        return Tile::default(); // never, and so told to the compiler, which need not provide for it
    }
    multiply(x.each_ref().map(|x| &x[..]), panel, column)
}

#[inline(never)]
fn of_far_rows<const STRIDE: usize>(x: [&[f32]; 4], w: &[[f32; STRIDE]], column: usize) -> Tile {
    multiply(x, w, column)
}

/// Four rows times four columns of w.
#[inline(always)]
fn multiply<const STRIDE: usize>([x0, x1, x2, x3]: [&[f32]; 4], w: &[[f32; STRIDE]], column: usize) -> Tile {
    let [mut a, mut b, mut c, mut d] = Tile::default();
    for ((((x0, x1), x2), x3), row) in x0.iter().zip(x1).zip(x2).zip(x3).zip(w) {
        let w = four(row, column);
        [a, b, c, d] = [add(a, *x0, w), add(b, *x1, w), add(c, *x2, w), add(d, *x3, w)];
    }
    [a, b, c, d]
}

/// w · x, in eight sums.
#[inline(always)]
pub(super) fn dot<const D: usize>(w: &[f32; D], x: &[f32; D]) -> f32 {
    let ((w, w_rest), (x, x_rest)) = (w.as_chunks(), x.as_chunks());
    let [mut a, b] = of_eights(w, x);
    for (w, x) in w_rest.chunks(4).zip(x_rest.chunks(4)) {
        a = Plain.mul_add(Plain.load(w), Plain.load(x), a);
    }
    Plain.sum_lanes(Plain.add(a, b))
}
