//! Sums, maxima and maps over a row of numbers: vectors first, then what is left one by one.

use super::exp_vector;
use crate::machine::{Machine, Work, dispatch};

/// A function of a row's numbers `x`, which begin at `column`.
pub(crate) trait Function {
    fn apply<M: Machine>(&self, m: M, column: usize, x: M::Vector) -> M::Vector;
}

/// Replaces all of `x` by `f` of it; returns the sum.
#[inline(always)]
pub(crate) fn map<M: Machine>(m: M, x: &mut [f32], f: &impl Function) -> f32 {
    let mut column = 0;
    let mut chunks = x.chunks_exact_mut(M::LANES);
    let mut sums = m.splat(0.0);
    for x in &mut chunks {
        let y = f.apply(m, column, m.load(x));
        m.store(y, x);
        sums = m.add(sums, y);
        column += M::LANES;
    }
    let mut sum = m.sum_lanes(sums);
    let one = m.one();
    for x in chunks.into_remainder().chunks_exact_mut(1) {
        let y = f.apply(one, column, one.load(x));
        one.store(y, x);
        sum += one.sum_lanes(y);
        column += 1;
    }
    sum
}

/// Folds all of `x` with `f`, lane by lane, then the lanes with `join`.
macro_rules! fold {
    ($m:expr, $x:expr, $start:expr, |$acc:ident, $v:ident, $n:ident| $f:expr, $join:ident) => {{
        let (m, x) = ($m, $x);
        let chunks = x.chunks_exact(M::LANES);
        let rest = chunks.remainder();
        let mut total = {
            let $n = m;
            let mut $acc = m.splat($start);
            for chunk in chunks {
                let $v = m.load(chunk);
                $acc = $f;
            }
            m.$join($acc)
        };
        let $n = m.one();
        for x in rest.chunks_exact(1) {
            let ($acc, $v) = ($n.splat(total), $n.load(x));
            total = $n.$join($f);
        }
        total
    }};
}

/// Σᵢ xᵢ
#[inline(always)]
pub(crate) fn sum<M: Machine>(m: M, x: &[f32]) -> f32 {
    fold!(m, x, 0.0, |sum, x, m| m.add(sum, x), sum_lanes)
}

/// Σᵢ (xᵢ - y)²
#[inline(always)]
pub(crate) fn square_of_distance<M: Machine>(m: M, x: &[f32], y: f32) -> f32 {
    fold!(
        m,
        x,
        0.0,
        |sum, x, m| {
            let x = m.sub(x, m.splat(y));
            m.mul_add(x, x, sum)
        },
        sum_lanes
    )
}

/// Σᵢ aᵢ bᵢ
#[inline(always)]
pub(crate) fn dot<M: Machine>(m: M, a: &[f32], b: &[f32]) -> f32 {
    // Two sums, so that one addition need not wait for the one before it.
    let mut sums = [m.splat(0.0); 2];
    let (mut a, mut b) = (a.chunks_exact(M::LANES), b.chunks_exact(M::LANES));
    for (i, (a, b)) in a.by_ref().zip(b.by_ref()).enumerate() {
        sums[i % 2] = m.mul_add(m.load(a), m.load(b), sums[i % 2]);
    }
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    m.sum_lanes(m.add(sums[0], sums[1])) + rest
}

/// maxᵢ xᵢ
#[inline(always)]
pub(crate) fn max<M: Machine>(m: M, x: &[f32]) -> f32 {
    fold!(m, x, f32::NEG_INFINITY, |max, x, m| m.max(max, x), max_lanes)
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
            exp_vector(m, m.mul(m.splat(self.scale), m.sub(x, m.splat(self.max))))
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
/// all y are 0 and not NaN. A NaN makes the row NaN. PyTorch: `softmax(dim=-1)`, but for rows fully masked.
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
