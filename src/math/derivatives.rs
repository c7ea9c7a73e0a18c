//! The derivatives of activations, with an absolute error of at most 1e-6.

use super::{NORMAL_HIGHEST, exp_vector, half_normal};
use crate::machine::Machine;
use core::f32::consts::FRAC_2_SQRT_PI;

/// 1
#[inline(always)]
pub(crate) fn identity<M: Machine>(m: M, _: M::Vector) -> M::Vector {
    m.splat(1.0)
}

/// 1 where x > 0, else 0, as PyTorch has it
#[inline(always)]
pub(crate) fn relu<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    let derivative = m.zero_below(x, m.splat(f32::from_bits(1)), m.splat(1.0));
    m.add(derivative, nan(m, x))
}

/// 0, or NaN where x is.
#[inline(always)]
fn nan<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    m.mul(clamp(m, x, 1.0), m.splat(0.0))
}

/// x between -bound and bound; a NaN stays.
#[inline(always)]
fn clamp<M: Machine>(m: M, x: M::Vector, bound: f32) -> M::Vector {
    m.max(m.splat(-bound), m.min(m.splat(bound), x))
}

/// 1 / (1 + e⁻ˣ), for x of -88 or more
#[inline(always)]
fn sigmoid<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    m.div(m.splat(1.0), m.add(m.splat(1.0), exp_vector(m, m.sub(m.splat(0.0), x))))
}

/// -|x|: there a sigmoid has all its digits, and 1 - s of an s near 1 has lost them.
#[inline(always)]
fn left<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    m.sub(m.splat(0.0), m.abs(x))
}

/// f'(x), given f'(-|x|), where f(x) is x times a sigmoid: f'(x) + f'(-x) = 1.
#[inline(always)]
fn mirror<M: Machine>(m: M, x: M::Vector, left: M::Vector) -> M::Vector {
    m.add(left, m.zero_below(x, m.splat(0.0), m.mul_add(m.splat(-2.0), left, m.splat(1.0))))
}

/// Φ(x) + x φ(x), where φ(x) = e^(-x²/2) / √(2π) is the density of the normal distribution
#[inline(always)]
pub(crate) fn gelu_erf<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    let x = clamp(m, x, 10.0); // beyond, it is 0 or 1
    let z = m.abs(x);
    let density = exp_vector(m, m.mul(m.splat(-0.5), m.mul(x, x)));
    let density = m.mul(m.splat(0.5 * core::f32::consts::FRAC_1_SQRT_2 * FRAC_2_SQRT_PI), density);
    // All but 1/2 is odd in x.
    let odd = m.mul_add(z, density, half_normal(m, m.min(m.splat(NORMAL_HIGHEST), z)));
    let sign = m.sub(m.zero_below(x, m.splat(0.0), m.splat(2.0)), m.splat(1.0));
    m.mul_add(sign, odd, m.splat(0.5))
}

/// s + 2 x s (1 - s) u'(x), where s = (1 + tanh u) / 2 and u(x) = √(2/π) (x + 0.044715 x³)
#[inline(always)]
pub(crate) fn gelu_tanh<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    const SCALE: f32 = FRAC_2_SQRT_PI * core::f32::consts::FRAC_1_SQRT_2; // √(2/π)
    const CUBE: f32 = 0.044_715;

    let z = left(m, clamp(m, x, 10.0)); // beyond, it is 0 or 1
    let square = m.mul(z, z);
    // s is the sigmoid of 2 u.
    let s = sigmoid(m, clamp(m, m.mul(z, m.mul_add(square, m.splat(2.0 * SCALE * CUBE), m.splat(2.0 * SCALE))), 88.0));
    let slope = m.mul_add(square, m.splat(6.0 * SCALE * CUBE), m.splat(2.0 * SCALE)); // 2 u'
    mirror(m, x, m.mul_add(m.mul(z, slope), m.mul(s, m.sub(m.splat(1.0), s)), s))
}

/// s (1 + x (1 - s)), where s = 1 / (1 + e⁻ˣ)
#[inline(always)]
pub(crate) fn silu<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    let z = left(m, clamp(m, x, 88.0)); // beyond, it is 0 or 1
    let s = sigmoid(m, z);
    mirror(m, x, m.mul(s, m.mul_add(z, m.sub(m.splat(1.0), s), m.splat(1.0))))
}
