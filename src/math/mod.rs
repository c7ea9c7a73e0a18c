//! Functions of numbers, without a standard library.
//!
//! The transcendental functions are written over [`Machine`], so that a kernel applies them to a register at a time;
//! [`exp`], [`erf`], [`tanh`], [`sqrt`], [`sin`] and [`cos`] are the same for one number. The stated errors are against
//! `f64` and tested (`tests/math.rs`).

pub(crate) mod derivatives;
pub mod fixed;
mod gelu;
mod rows;
mod trigonometry;

pub(crate) use gelu::{gelu_erf, gelu_tanh};
pub use rows::softmax;
pub(crate) use rows::{Function, map, max, softmax_row, square_of_distance, sum};
pub(crate) use trigonometry::{RADIAN, log_ten, mul_high, power_of_ten, sin_cos, sin_cos_of_turn, turned};
pub use trigonometry::{cos, sin};

use crate::machine::{Lanes, Machine, Single};
use core::f32::consts::{LOG2_E, SQRT_2};

/// Σᵢ cᵢ xⁿ⁻ⁱ, written out: optimisers for size unroll no loop.
macro_rules! polynomial {
    ($m:ident, $x:expr, $first:expr $(, $c:expr)*) => {{
        let x = $x;
        let y = $m.splat($first);
        $(let y = $m.mul_add(y, x, $m.splat($c));)*
        y
    }};
}
use polynomial;

/// [`exp`], a vector at a time.
#[inline(always)]
pub(crate) fn exp_vector<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    exp_of_bounded(m, m.min(m.splat(EXP_HIGHEST), x))
}

/// [`exp_vector`] of what is not above [`EXP_HIGHEST`].
#[inline(always)]
fn exp_of_bounded<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    // eˣ = 2ⁿ eʳ with n = round(x / ln 2); adding 1.5 · 2²³ rounds, and leaves n in the low bits.
    let round = m.splat(12_582_912.0);
    let shifted = m.mul_add(x, m.splat(LOG2_E), round);
    let n = m.sub(shifted, round);
    let r = m.mul_add(n, m.splat(-0.693_359_4), x); // ln 2 in two parts, of which n times the first is exact
    let r = m.mul_add(n, m.splat(2.121_944_4e-4), r);
    let p = polynomial!(m, r, 1.384_394_7e-3, 8.374_177e-3, 4.166_799_8e-2, 1.666_643_1e-1, 4.999_999_4e-1);
    let y = m.add(m.mul_add(p, m.mul(r, r), r), m.splat(1.0));
    m.zero_below(x, m.splat(EXP_LOWEST), m.mul(y, m.power_of_two(shifted)))
}

const EXP_HIGHEST: f32 = 88.37; // above it, 2ⁿ is infinite
const EXP_LOWEST: f32 = -87.33; // below it, eˣ is subnormal

/// Φ(z) - 1/2 for 0 ≤ z ≤ 5.4, where Φ is the normal distribution function: z P(z²) / Q(z²).
#[inline(always)]
fn half_normal<M: Machine>(m: M, z: M::Vector) -> M::Vector {
    let t = m.mul(z, z);
    let p =
        polynomial!(m, t, 2.284_795_2e-8, 6.430_064e-6, 1.725_224e-4, 4.700_600_7e-3, 3.415_917_6e-2, 3.989_422_4e-1);
    let q = polynomial!(m, t, 1.206_091e-6, 7.510_502_6e-5, 1.905_236_6e-3, 2.883_299e-2, 2.522_9e-1, 1.0);
    m.div(m.mul(z, p), q)
}

/// Where [`half_normal`] ends: beyond, Φ is 1 to 4e-8.
const NORMAL_HIGHEST: f32 = 5.4;

/// x / (1 + e⁻ˣ)
#[inline(always)]
pub(crate) fn silu<M: Machine>(m: M, x: M::Vector) -> M::Vector {
    let bounded = m.max(m.splat(-100.0), x); // e⁻ˣ does not grow beyond that
    m.div(bounded, m.add(m.splat(1.0), exp_vector(m, m.sub(m.splat(0.0), x))))
}

/// eˣ, to 1.2 units in the last place (relative error 1.1e-7), as in [`softmax`] on every machine.
///
/// 0 below -87.33, where the result would be subnormal, and e^88.37 = 2.39e38 above 88.37.
#[must_use]
pub fn exp(x: f32) -> f32 {
    exp_vector(Single, x)
}

/// erf x = 2/√π ∫₀ˣ exp(-t²) dt, with an absolute error of at most 5e-7.
#[must_use]
pub fn erf(x: f32) -> f32 {
    let m = Single;
    let z = m.min(NORMAL_HIGHEST, m.abs(x) * SQRT_2);
    (2.0 * half_normal(m, z)).copysign(x)
}

/// tanh x = (e²ˣ - 1) / (e²ˣ + 1), with a relative error of at most 2e-7.
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let z = f32::from_bits(x.to_bits() & 0x7fff_ffff);
    let y = if z < 0.625 {
        let t = z * z;
        let m = Single;
        // x + x³ p(x²): the quotient below would lose digits.
        z + z * t * polynomial!(m, t, -5.704_988e-3, 2.063_908_8e-2, -5.373_971_5e-2, 1.333_144_2e-1, -3.333_328e-1)
    } else {
        1.0 - 2.0 / (exp(2.0 * z) + 1.0)
    };
    if x.is_nan() { x } else { y.copysign(x) }
}

/// √x, correctly rounded; NaN below 0.
#[must_use]
#[inline]
pub fn sqrt(x: f32) -> f32 {
    // What `libm` has is inline assembly of before AVX, for which an Intel processor among AVX instructions takes 200 cycles.
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    libm::sqrtf(x)
}
