//! Both forms of GELU: max(0, x) - z q(z) with z = |x|, where q is a polynomial.
//!
//! A difference of nothing large anywhere, and no division: of vectors, that would take longer than all the rest. Of single
//! numbers it does not, and q is 1 / (2 p⁸) with a polynomial p of half the degree.
//! `tests/reference/gelu.py` prints the coefficients.

use super::polynomial;
use crate::machine::Machine;

/// q(z) for 0 ≤ z ≤ `highest`; beyond, z q(z) stays what it is there.
struct Tail {
    highest: f32,
    /// q as a polynomial of 2 z / `highest` - 1.
    coefficients: [f32; 16],
    /// p without its last coefficient, 1, where q(z) is 1 / (2 p(z)⁸).
    denominator: [f32; 8],
}

/// q(z) = 1 - Φ(z), where Φ is the normal distribution function
const ERF: Tail = Tail {
    highest: 5.4,
    coefficients: [
        -5.203_078e-3,
        6.190_391e-3,
        2.534_806_4e-2,
        -4.306_731_7e-2,
        -3.494_002_7e-2,
        1.210_927_4e-1,
        -4.906_124e-2,
        -1.356_657_4e-1,
        2.120_088_3e-1,
        -7.185_648_4e-2,
        -1.550_177_6e-1,
        2.672_823e-1,
        -2.149_975_9e-1,
        1.025_570_5e-1,
        -2.813_715_3e-2,
        3.466_982e-3,
    ],
    denominator: [
        2.763_264_5e-6,
        -1.450_136e-5,
        8.564_388_6e-5,
        1.439_863_4e-4,
        9.317_435e-4,
        8.631_129e-3,
        4.477_330_3e-2,
        9.973_469_4e-2,
    ],
};

/// q(z) = (1 - tanh(√(2/π) (z + 0.044715 z³))) / 2
const TANH: Tail = Tail {
    highest: 5.2,
    coefficients: [
        -3.582_928e-3,
        2.227_366_4e-3,
        1.902_077_7e-2,
        -2.222_785_4e-2,
        -2.845_136e-2,
        7.180_409e-2,
        -3.525_666e-2,
        -7.300_917e-2,
        1.604_571_5e-1,
        -1.017_429_2e-1,
        -9.455_4e-2,
        2.468_554e-1,
        -2.323_298_7e-1,
        1.216_107_5e-1,
        -3.530_301e-2,
        4.482_236e-3,
    ],
    denominator: [
        1.017_935_5e-5,
        -7.186_168e-5,
        3.650_395e-4,
        -3.692_134_6e-4,
        1.361_025_4e-3,
        8.291_373e-3,
        4.483_360_4e-2,
        9.973_01e-2,
    ],
};

#[inline(always)]
fn gelu<M: Machine>(m: M, x: M::Vector, tail: &Tail) -> M::Vector {
    let z = m.min(m.splat(tail.highest), m.abs(x));
    let q = if M::DIVIDES { quotient(m, z, tail) } else { polynomial(m, z, tail) };
    m.sub(m.max(m.splat(0.0), x), m.mul(z, q))
}

#[inline(always)]
fn polynomial<M: Machine>(m: M, z: M::Vector, tail: &Tail) -> M::Vector {
    let u = m.mul_add(z, m.splat(2.0 / tail.highest), m.splat(-1.0));
    let [first, rest @ ..] = tail.coefficients;
    let mut q = m.splat(first);
    for c in rest {
        q = m.mul_add(q, u, m.splat(c));
    }
    q
}

#[inline(always)]
fn quotient<M: Machine>(m: M, z: M::Vector, tail: &Tail) -> M::Vector {
    let [a, b, c, d, e, f, g, h] = tail.denominator;
    let p = polynomial!(m, z, a, b, c, d, e, f, g, h, 1.0);
    let p = m.mul(p, p);
    let p = m.mul(p, p);
    m.div(m.splat(0.5), m.mul(p, p))
}

/// x Φ(x)
#[inline(always)]
pub(crate) fn gelu_erf<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    gelu(m, x, &ERF)
}

/// x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))
#[inline(always)]
pub(crate) fn gelu_tanh<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    gelu(m, x, &TANH)
}
