//! Few rows times panels: several panels at once, so that no sum waits for the one before it, and memory is read in several
//! places.

use super::{Epilogue, PANEL};
use crate::machine::Machine;

/// Rows times panels of a matrix that lie one after the other.
pub(crate) struct FewRows<'a, const D: usize> {
    pub(crate) x: &'a [[f32; D]],
    pub(crate) panels: &'a [f32],
}

impl<const D: usize> FewRows<'_, D> {
    /// Hands the product with as many of the panels of `OUT` columns as there are at once to `epilogue`; returns how many
    /// those are.
    #[inline(always)]
    pub(crate) fn run<M: Machine, const OUT: usize>(&self, m: M, epilogue: &mut impl Epilogue) -> usize {
        let mut done = 0;
        // Eight sums at least are under way, if there are as many columns; of a panel alone, a tile of some rows has as many.
        if const { M::LANES >= 16 && OUT >= 4 * PANEL } {
            done = self.panels::<M, 4>(m, done, epilogue);
        }
        if const { M::LANES >= 16 && OUT / PANEL % 4 == 3 } {
            done = self.panels::<M, 3>(m, done, epilogue);
        } else if const { M::LANES >= 16 && OUT / PANEL % 4 == 2 || M::LANES == 8 && OUT >= 2 * PANEL } {
            done = self.panels::<M, 2>(m, done, epilogue);
        } else if const { M::LANES == 4 } {
            done = self.panels::<M, 1>(m, done, epilogue);
        }
        done
    }

    /// `P` panels at once, from the panel `first` on; returns the panel after them.
    #[inline(always)]
    fn panels<M: Machine, const P: usize>(&self, m: M, mut first: usize, epilogue: &mut impl Epilogue) -> usize {
        let rest = self.panels.get(first * D * PANEL..).unwrap_or_default();
        for panels in rest.chunks_exact((P * D * PANEL).max(1)) {
            for (row, x) in self.x.iter().enumerate() {
                let mut sums = [[0.0; PANEL]; P];
                multiply(m, x, panels, &mut sums);
                for (panel, sums) in (first..).zip(&sums) {
                    for (v, sums) in sums.chunks_exact(M::LANES).enumerate() {
                        epilogue.store(m, row, panel * PANEL + v * M::LANES, M::LANES, m.load(sums));
                    }
                }
            }
            first += P;
        }
        first
    }
}

/// The sums of a row and `P` panels, kept in registers.
#[inline(always)]
fn multiply<M: Machine, const P: usize, const D: usize>(
    m: M,
    x: &[f32; D],
    panels: &[f32],
    out: &mut [[f32; PANEL]; P],
) {
    let (rows, _) = panels.as_chunks::<PANEL>();
    let mut w = [rows; P];
    for (p, w) in w.iter_mut().enumerate() {
        *w = rows.get(p * D..(p + 1) * D).unwrap_or_default();
        if w.len() != D {
            return; // never, and so told to the compiler, which need not check in the loop
        }
    }
    let mut sums = [[m.splat(0.0); 8]; P];
    for i in 0..D {
        let x = m.splat(x[i]);
        for p in 0..P {
            for v in 0..PANEL / M::LANES {
                sums[p][v] = m.mul_add(x, m.load(&w[p][i][v * M::LANES..][..M::LANES]), sums[p][v]);
            }
        }
    }
    for p in 0..P {
        for v in 0..PANEL / M::LANES {
            m.store(sums[p][v], &mut out[p][v * M::LANES..][..M::LANES]);
        }
    }
}
