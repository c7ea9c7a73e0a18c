//! A token times the rows of a table: the tied head.

use super::scalar::{dot, is_scalar};
use crate::machine::Machine;

/// yᵢ = wᵢ · x for every row wᵢ, four at once: as many sums are under way as an addition takes cycles.
#[inline(always)]
pub(crate) fn dots<M: Machine, const D: usize>(m: M, w: &[[f32; D]], x: &[f32; D], y: &mut [f32]) {
    if const { is_scalar::<M>() } {
        w.iter().zip(y).for_each(|(w, y)| *y = dot(w, x));
        return;
    }
    let by_four = w.len().min(y.len()) / 4 * 4;
    let ((w, last_w), (y, last_y)) = (w.split_at(by_four), y.split_at_mut(by_four));
    for (w, y) in w.as_chunks().0.iter().zip(y.as_chunks_mut().0) {
        *y = dots_of::<M, 4, D>(m, w, x);
    }
    for (w, y) in last_w.iter().zip(last_y) {
        [*y] = dots_of(m, core::array::from_ref(w), x);
    }
}

/// [`dots`] of `R` rows, each in two sums, in the same order whatever R is.
#[inline(always)]
fn dots_of<M: Machine, const R: usize, const D: usize>(m: M, w: &[[f32; D]; R], x: &[f32; D]) -> [f32; R] {
    let mut sums = [[m.splat(0.0); 2]; R];
    let mut column = 0;
    while column + 2 * M::LANES <= D {
        let halves = [m.load(&x[column..][..M::LANES]), m.load(&x[column + M::LANES..][..M::LANES])];
        for r in 0..R {
            let [a, b] = &mut sums[r];
            *a = m.mul_add(m.load(&w[r][column..][..M::LANES]), halves[0], *a);
            *b = m.mul_add(m.load(&w[r][column + M::LANES..][..M::LANES]), halves[1], *b);
        }
        column += 2 * M::LANES;
    }
    for column in (column..D).step_by(M::LANES) {
        let x = m.load(&x[column..]);
        for r in 0..R {
            sums[r][0] = m.mul_add(m.load(&w[r][column..]), x, sums[r][0]);
        }
    }
    sums.map(|[a, b]| m.sum_lanes(m.add(a, b)))
}
