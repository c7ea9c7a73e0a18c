//! A row alone, in Rust.

use super::{PANEL, Tile, add, four};
use crate::machine::{Lanes, Machine, Plain};

/// Columns that [`of_row`] multiplies with.
pub(super) const STRIP: usize = 8;

/// A row times sixteen columns of a panel.
#[inline(never)]
pub(super) fn row_of_panel(x: &[f32], panel: &[[f32; PANEL]], column: usize) -> Tile {
    let ([mut a, mut b, mut c, mut d], column) = (Tile::default(), column.min(PANEL - 16));
    for (x, row) in x.iter().zip(panel) {
        let [v, w, y, z] = [0, 4, 8, 12].map(|i| four(row, column + i));
        [a, b, c, d] = [add(a, *x, v), add(b, *x, w), add(c, *x, y), add(d, *x, z)];
    }
    [a, b, c, d]
}

/// A row times the first eight columns of w, whose rows are `stride` numbers apart. Where a row has fewer, it reads on into the next one.
#[inline(never)]
pub(super) fn of_row(x: &[f32], mut w: &[f32], stride: usize, _: usize) -> [[f32; 4]; 2] {
    let [mut a, mut b] = [[0.0; 4]; 2];
    for x in x {
        let row = w.first_chunk::<8>().copied().unwrap_or_else(|| {
            let mut row = [0.0; 8];
            row.iter_mut().zip(w).for_each(|(to, from)| *to = *from);
            row
        });
        let [c, d, e, f, g, h, i, j] = row;
        [a, b] = [add(a, *x, [c, d, e, f]), add(b, *x, [g, h, i, j])];
        w = w.get(stride..).unwrap_or_default();
    }
    [a, b]
}

/// Σ w x, in eight sums: of the first numbers of all eights, of the second, and so on.
#[inline(always)]
pub(super) fn of_eights(w: &[[f32; 8]], x: &[[f32; 8]]) -> [[f32; 4]; 2] {
    let [mut a, mut b] = [[0.0; 4]; 2];
    for (w, x) in w.iter().zip(x) {
        a = Plain.mul_add(Plain.load(w), Plain.load(x), a);
        b = Plain.mul_add(Plain.load(&w[4..]), Plain.load(&x[4..]), b);
    }
    [a, b]
}
