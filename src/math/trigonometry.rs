//! Sine and cosine, also at compile time: tables of positions are constants.

use core::f64::consts::{FRAC_2_PI, LN_10};

/// sin x, to one unit in the last place; NaN for what is not finite.
#[must_use]
pub fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

/// cos x, to one unit in the last place; NaN for what is not finite.
#[must_use]
pub fn cos(x: f32) -> f32 {
    libm::cosf(x)
}

/// π/2 in two parts, of which a quarter turn count up to 2²² times the first is exact.
const HALF_PI: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];

/// sin x and cos x, to 1e-12 for |x| ≤ 10⁶.
pub(crate) const fn sin_cos(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    let quarters = x * FRAC_2_PI;
    let n = if quarters < 0.0 { (quarters - 0.5) as i64 } else { (quarters + 0.5) as i64 };
    let r = (x - n as f64 * HALF_PI[0]) - n as f64 * HALF_PI[1];
    let (sin, cos) = (taylor(r, r, 1.0), taylor(r, 1.0, 0.0));
    match n.rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The series of the sine (`term` = r, `n` = 1) or the cosine (`term` = 1, `n` = 0) for |r| ≤ π/4, nine terms.
const fn taylor(r: f64, mut term: f64, mut n: f64) -> f64 {
    let mut sum = term;
    let mut i = 0;
    while i < 9 {
        term *= -r * r / ((n + 1.0) * (n + 2.0));
        n += 2.0;
        sum += term;
        i += 1;
    }
    sum
}

/// 10ˣ for |x| ≤ 16: the wavelengths of sinusoidal positions, the epsilons of norms.
pub(crate) const fn power_of_ten(x: f64) -> f64 {
    // e^(x ln 10) = (e^(x ln 10 / 64))⁶⁴
    let r = x * LN_10 / 64.0;
    let (mut sum, mut term, mut i) = (1.0, 1.0, 1.0);
    while i < 20.0 {
        term *= r / i;
        sum += term;
        i += 1.0;
    }
    let mut squarings = 0;
    while squarings < 6 {
        sum *= sum;
        squarings += 1;
    }
    sum
}

/// log₁₀ x for x ≥ 1
pub(crate) const fn log_ten(mut x: f64) -> f64 {
    let mut digits = 0.0;
    while x >= 10.0 {
        x /= 10.0;
        digits += 1.0;
    }
    // ln x = 2 artanh((x - 1) / (x + 1))
    let r = (x - 1.0) / (x + 1.0);
    let (mut sum, mut power, mut n) = (0.0, r, 1.0);
    while n < 200.0 {
        sum += power / n;
        power *= r * r;
        n += 2.0;
    }
    digits + 2.0 * sum / LN_10
}
