//! Sums, maxima and maps over a row of numbers. What is left over is a vector too: the last one of the
//! row, which overlaps the one before it, and of which only the new lanes count.

use super::exp_of_bounded;
use crate::machine::{Machine, Single, Work, dispatch};

/// A function of a row's numbers `x`, which begin at `column`.
pub(crate) trait Function {
    fn apply<M: Machine>(&self, m: M, column: usize, x: M::Vector) -> M::Vector;
}

/// Replaces all of `x` by `f` of it; returns the sum.
#[inline(always)]
pub(crate) fn map<M: Machine>(m: M, x: &mut [f32], f: &impl Function) -> f32 {
    let len = x.len();
    let ragged = !len.is_multiple_of(M::LANES);
    // What the last two vectors share is to be replaced once.
    let end = if ragged { f.apply(m, last::<M>(len), m.load(end::<M>(x))) } else { m.splat(0.0) };
    let mut column = 0;
    let mut sums = m.splat(0.0);
    for x in x.chunks_exact_mut(M::LANES) {
        let y = f.apply(m, column, m.load(x));
        m.store(y, x);
        sums = m.add(sums, y);
        column += M::LANES;
    }
    if ragged {
        m.store(end, x.get_mut(last::<M>(len)..).unwrap_or_default());
        sums = m.add(sums, new_lanes(m, len, end));
    }
    m.sum_lanes(sums)
}

/// Where the last vector of a row begins.
#[inline(always)]
const fn last<M: Machine>(len: usize) -> usize {
    len.saturating_sub(M::LANES)
}

/// The last vector of a row, or all of the row if it is shorter than that.
#[inline(always)]
fn end<M: Machine>(x: &[f32]) -> &[f32] {
    x.get(last::<M>(x.len())..).unwrap_or_default()
}

/// Numbers in a vector, at most.
const LONGEST: usize = 16;

/// The lanes of the last vector of a ragged row that are in no vector before it; the others are 0.
#[inline(always)]
fn new_lanes<M: Machine>(m: M, len: usize, x: M::Vector) -> M::Vector {
    /// Zeros, ones, zeros.
    const LANES: [f32; 3 * LONGEST] = {
        let mut lanes = [0.0; 3 * LONGEST];
        let mut i = LONGEST;
        while i < 2 * LONGEST {
            lanes[i] = 1.0;
            i += 1;
        }
        lanes
    };

    const { assert!(M::LANES <= LONGEST) }
    let first = if len < M::LANES { 2 * LONGEST - len } else { LONGEST + len % M::LANES - M::LANES };
    m.zero_below(m.load(LANES.get(first..).unwrap_or_default()), m.splat(1.0), x)
}

/// Folds all terms, those of a vector at a time, into a vector of sums; adds its lanes.
macro_rules! fold {
    ($m:ident, $row:expr, |$x:ident| $term:expr, |$sums:ident, $y:ident| $f:expr) => {{
        let row: &[f32] = $row;
        let mut $sums = $m.splat(0.0);
        for x in row.chunks_exact(M::LANES) {
            let $x = $m.load(x);
            let $y = $term;
            $sums = $f;
        }
        if row.len() % M::LANES > 0 {
            let $x = $m.load(end::<M>(row));
            let $y = new_lanes($m, row.len(), $term);
            $sums = $f;
        }
        $m.sum_lanes($sums)
    }};
}

/// Σᵢ xᵢ
#[inline(always)]
pub(crate) fn sum<M: Machine>(m: M, x: &[f32]) -> f32 {
    fold!(m, x, |x| x, |sums, y| m.add(sums, y))
}

/// Σᵢ (xᵢ - y)²
#[inline(always)]
pub(crate) fn square_of_distance<M: Machine>(m: M, x: &[f32], y: f32) -> f32 {
    fold!(m, x, |x| m.sub(x, m.splat(y)), |sums, y| m.mul_add(y, y, sums))
}

/// maxᵢ xᵢ
#[inline(always)]
pub(crate) fn max<M: Machine>(m: M, x: &[f32]) -> f32 {
    if x.len() < M::LANES {
        return x.iter().fold(f32::NEG_INFINITY, |max, x| Single.max(max, *x));
    }
    // Twice the maximum of a number is that number.
    let mut max = m.load(end::<M>(x));
    for x in x.chunks_exact(M::LANES) {
        max = m.max(max, m.load(x));
    }
    m.max_lanes(max)
}

/// Replaces scores xⱼ by exp(scale (xⱼ - max x)) and returns 1 / their sum, so that the division is a factor of what is
/// made of them. All scores -∞ (a row fully masked) or none: zeros, and the factor 0.
#[inline(always)]
pub(crate) fn softmax_row<M: Machine>(m: M, x: &mut [f32], scale: f32) -> f32 {
    struct Exp {
        scale: f32,
        max: f32,
    }

    impl Function for Exp {
        #[inline(always)]
        fn apply<M: Machine>(&self, m: M, _: usize, x: M::Vector) -> M::Vector {
            // The difference first: `scale x - scale max` would round differently for equal scores.
            exp_of_bounded(m, m.mul(m.splat(self.scale), m.sub(x, m.splat(self.max))))
        }
    }

    let max = max(m, x);
    if max == f32::NEG_INFINITY && x.iter().all(|x| *x == f32::NEG_INFINITY) {
        x.fill(0.0);
        return 0.0;
    }
    1.0 / map(m, x, &Exp { scale, max })
}

/// Replaces scores x by their softmax, yⱼ = exp xⱼ / Σᵢ exp xᵢ
///
/// The maximum is subtracted first, so no score is too large. A score of -∞ is masked: its y is 0; where all are masked,
/// all y are 0 and not NaN. A NaN makes the row NaN. Of n scores, yⱼ has a relative error of at most
/// 2⁻²⁴ (2n + 6 + max x - xⱼ), and an absolute one of 2⁻¹²⁶ where [`exp`](crate::math::exp) ends. PyTorch: `softmax(dim=-1)`, but for rows fully masked.
///
/// ```
/// let mut x = [0.0, f32::NEG_INFINITY, 0.0];
/// constformer::math::softmax(&mut x);
/// assert_eq!(x, [0.5, 0.0, 0.5]);
/// ```
pub fn softmax(x: &mut [f32]) {
    struct Softmax<'a>(&'a mut [f32]);

    impl Work for Softmax<'_> {
        type Output = ();

        #[inline(always)]
        fn run<M: Machine>(self, m: M) {
            let scale = softmax_row(m, self.0, 1.0);
            map(m, self.0, &Scale(scale));
        }
    }

    dispatch(Softmax(x));
}

struct Scale(f32);

impl Function for Scale {
    #[inline(always)]
    fn apply<M: Machine>(&self, m: M, _: usize, x: M::Vector) -> M::Vector {
        m.mul(x, m.splat(self.0))
    }
}
