//! Rows times a matrix, in register tiles.

use super::{Epilogue, scalar::is_scalar};
use crate::machine::{Machine, prefetch};
use core::{ops::Range, slice::Chunks};

/// Columns of a panel: at least two vectors on any machine.
pub(crate) const PANEL: usize = 32;

/// x w, where x is the columns `inputs` of its rows.
///
/// Nothing is copied: a head is a range of columns; a panel of weights, a panel of keys and the values of a head are all
/// rows of numbers, so far apart: `STRIDE`, but for a narrow panel.
pub(crate) struct Product<'a, const D: usize, const STRIDE: usize> {
    pub(crate) x: &'a [[f32; D]],
    /// At most D; as many as w has rows.
    pub(crate) inputs: Range<usize>,
    pub(crate) w: &'a [f32],
    /// Numbers from one row of w to the next, at least one.
    pub(crate) stride: usize,
    /// The first column of w that is wanted.
    pub(crate) from: usize,
    /// Columns that are wanted.
    pub(crate) columns: usize,
    /// What the epilogue calls the first column.
    pub(crate) first: usize,
    /// What will be multiplied next, and is asked for meanwhile.
    pub(crate) next: &'a [f32],
}

/// Numbers in a cache line.
const LINE: usize = 16;

impl<const D: usize, const STRIDE: usize> Product<'_, D, STRIDE> {
    /// Hands the product to `epilogue`, in strips as wide as the machine's register tile.
    #[inline(always)]
    pub(crate) fn run<M: Machine>(&self, m: M, epilogue: &mut impl Epilogue) {
        if const { M::VECTORS == 2 } {
            self.strips::<M, 2>(m, epilogue);
        } else {
            self.strips::<M, 1>(m, epilogue);
        }
    }

    /// Hands the product to `epilogue`, in strips of `V` vectors.
    ///
    /// Columns outermost: each weight is read from memory once, and used for all rows.
    #[inline(always)]
    pub(crate) fn strips<M: Machine, const V: usize>(&self, m: M, epilogue: &mut impl Epilogue) {
        if const { is_scalar::<M>() } {
            return self.scalar(m, epilogue);
        }
        let (x, ahead) = (self.x, &mut self.next.chunks(2 * LINE));
        for column in (0..self.columns).step_by(V * M::LANES) {
            let w = Columns::new::<M, V, D, STRIDE>(m, self, column);
            let mut row = 0;
            while row < x.len() {
                let left = x.len() - row;
                row = if const { M::ROWS == 8 } && left > 4 && x.len() >= 8 {
                    self.tile::<M, 8, V>(m, row, &w, epilogue, ahead)
                } else if const { M::ROWS == 6 } && !matches!(left, 1..=4 | 7 | 8) && x.len() >= 6 {
                    self.tile::<M, 6, V>(m, row, &w, epilogue, ahead)
                } else if const { M::ROWS > 4 } || x.len() >= 4 {
                    self.tile::<M, 4, V>(m, row, &w, epilogue, ahead)
                } else {
                    self.tile::<M, 1, V>(m, row, &w, epilogue, ahead)
                };
            }
        }
    }

    /// A tile of `R` rows from `row` on and `V` vectors of columns; returns the row after it.
    ///
    /// It is always full. The last of many rows start early and repeat some; of fewer rows it takes the last more than once;
    /// of ragged columns it reads on into the next row of w. What it makes of that is left out.
    #[inline(always)]
    fn tile<M: Machine, const R: usize, const V: usize>(
        &self,
        m: M,
        row: usize,
        w: &Columns<'_>,
        epilogue: &mut impl Epilogue,
        ahead: &mut Chunks<'_, f32>,
    ) -> usize {
        let start = row.min(self.x.len().saturating_sub(R));
        let end = start + R;
        let x = self.x.get(start..).unwrap_or_default();
        let x = match (x.first_chunk::<R>(), x.last()) {
            (Some(x), _) => x.each_ref(),
            (None, Some(last)) if R == 4 => core::array::from_fn(|r| x.get(r).unwrap_or(last)),
            _ => return end,
        };
        let sums = multiply::<M, R, V, D>(m, x, self.inputs.clone(), w, ahead);
        let (to, width) = (self.first + w.first, self.columns - w.first);
        for (row, sums) in (start..self.x.len()).zip(&sums).skip(row - start) {
            for (v, sums) in sums.iter().enumerate() {
                let v = v * M::LANES;
                if v + M::LANES <= width {
                    epilogue.store(m, row, to + v, M::LANES, *sums);
                } else if v < width {
                    epilogue.store(m, row, to + v, width - v, *sums);
                }
            }
        }
        end
    }
}

/// Columns of w, as many as a tile has.
struct Columns<'a> {
    /// Which it begins with.
    first: usize,
    /// w from there on.
    rows: &'a [f32],
    stride: usize,
    /// Rows of w that do not end before the vectors do.
    whole: usize,
    /// The other rows, which are of ragged columns: zeros follow them.
    others: [f32; 2 * PANEL],
}

impl<'a> Columns<'a> {
    #[inline(always)]
    fn new<M: Machine, const V: usize, const D: usize, const S: usize>(
        m: M,
        product: &Product<'a, D, S>,
        first: usize,
    ) -> Self {
        let (rows, stride) = (product.w.get(product.from + first..).unwrap_or_default(), product.stride);
        let whole = (rows.len() + stride).saturating_sub(V * M::LANES) / stride.max(1);
        let mut others = [0.0; 2 * PANEL];
        let rest = rows.get(whole * stride..).unwrap_or_default();
        for (i, to) in others.chunks_exact_mut(M::LANES).enumerate() {
            m.store(m.load(rest.get(i * M::LANES..).unwrap_or_default()), to);
        }
        Self { first, rows, stride, whole, others }
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[f32] {
        let (rows, i) = if i < self.whole { (self.rows, i) } else { (&self.others[..], i - self.whole) };
        rows.get(i * self.stride..).unwrap_or_default()
    }
}

/// The sums of `R` rows and `V` vectors of columns, kept in registers.
#[inline(always)]
fn multiply<M: Machine, const R: usize, const V: usize, const D: usize>(
    m: M,
    x: [&[f32; D]; R],
    inputs: Range<usize>,
    w: &Columns<'_>,
    ahead: &mut Chunks<'_, f32>,
) -> [[M::Vector; V]; R] {
    let mut sums = [[m.splat(0.0); V]; R];
    if inputs.end > D || V * M::LANES > PANEL {
        return sums; // never, and so told to the compiler, which need not check in the loop
    }
    let mut i = inputs.start;
    if const { R >= 4 } {
        // Two rows of w at a time: half as many questions whether there are more.
        let mut pairs = w.rows.windows(w.stride + V * M::LANES).step_by(2 * w.stride);
        while i + 1 < inputs.end {
            let Some(pair) = pairs.next() else { break };
            ask(ahead);
            step(m, x, i, pair, &mut sums);
            step(m, x, i + 1, &pair[w.stride..], &mut sums);
            i += 2;
        }
    }
    for i in i..inputs.end {
        let row = w.row(i - inputs.start);
        ask(ahead);
        step(m, x, i, row, &mut sums);
    }
    sums
}

/// Asks for what comes next.
#[inline(always)]
fn ask(ahead: &mut Chunks<'_, f32>) {
    if let Some(lines) = ahead.next() {
        prefetch(lines);
        prefetch(lines.get(LINE..).unwrap_or_default());
    }
}

/// Adds the products of input `i` with its row `w`.
#[inline(always)]
fn step<M: Machine, const R: usize, const V: usize, const D: usize>(
    m: M,
    x: [&[f32; D]; R],
    i: usize,
    w: &[f32],
    sums: &mut [[M::Vector; V]; R],
) {
    let mut vectors = [m.splat(0.0); V];
    for v in 0..V {
        vectors[v] = m.load(&w[v * M::LANES..][..M::LANES]);
    }
    for r in 0..R {
        let x = m.splat(x[r][i]);
        for v in 0..V {
            sums[r][v] = m.mul_add(x, vectors[v], sums[r][v]);
        }
    }
}
