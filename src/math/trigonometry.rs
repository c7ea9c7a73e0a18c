//! Sine and cosine: of numbers, at compile time, since tables of positions are constants, and of fractions of a turn, for rotary positions.

use core::f64::consts::{FRAC_2_PI, LN_2, LN_10, LOG2_10};

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
    let n = round(x * FRAC_2_PI);
    let r = (x - n as f64 * HALF_PI[0]) - n as f64 * HALF_PI[1];
    // The series of both, without divisions, for |r| ≤ π/4.
    let (mut sin, mut cos, mut i) = (0.0, 0.0, TERMS);
    while i > 0 {
        i -= 2;
        sin = sin * (-r * r) + INVERSE_FACTORIALS[i + 1];
        cos = cos * (-r * r) + INVERSE_FACTORIALS[i];
    }
    sin *= r;
    // A quarter turn makes them (cos, -sin), a half turn (-sin, -cos). Without branches, which nobody could foresee.
    let (sin, cos) = if n % 2 == 0 { (sin, cos) } else { (cos, -sin) };
    let half_turn = ((n & 2) as u64) << 62;
    (f64::from_bits(sin.to_bits() ^ half_turn), f64::from_bits(cos.to_bits() ^ half_turn))
}

/// 2⁶⁴ / 2π: the angle 1, where a turn is 2⁶⁴.
pub(crate) const RADIAN: u64 = 2_935_890_503_282_001_226;

/// sin and cos of an angle of which 2⁶⁴ are a turn, to half a unit in the last place and 1e-15. Its multiples are exact, as they wrap as turns do.
///
/// In integers, since microcontrollers emulate `f64`.
pub(crate) fn sin_cos_of_turn(turn: u64) -> (f32, f32) {
    let (quarter, sin, cos) = of_eighth(turn);
    let unit = (1.0 / (1u64 << 63) as f64) as f32;
    let (sin, cos) = (sin as f32 * unit, cos as f32 * unit);
    by_quarters(quarter, sin, cos)
}

/// As [`sin_cos_of_turn`], of which 2⁶² are 1.
pub(crate) fn turned(turn: u64) -> (i64, i64) {
    let (quarter, sin, cos) = of_eighth(turn);
    by_quarters(quarter, sin >> 1, (cos >> 1).cast_signed())
}

/// The nearest quarter turn, and the sine and cosine of what is left, of which 2⁶³ are 1.
fn of_eighth(turn: u64) -> (u64, i64, u64) {
    /// π/4
    const EIGHTH: u64 = 14_488_038_916_154_245_685;
    /// 1 / n!, of which 2⁶³ are 1.
    const COEFFICIENTS: [u64; TERMS] = {
        let (mut table, mut n) = ([0; TERMS], 0);
        while n < TERMS {
            table[n] = (INVERSE_FACTORIALS[n] * ONE) as u64;
            n += 1;
        }
        table
    };
    const ONE: f64 = (1u64 << 63) as f64;

    // The nearest quarter turn, and how far away that is.
    let quarter = turn.wrapping_add(1 << 61) >> 62;
    let rest = turn.wrapping_sub(quarter << 62).cast_signed();
    let x = mul_high((rest ^ (rest >> 63)).cast_unsigned() << 3, EIGHTH); // |rest|, to a unit
    let square = mul_high(x, x);
    let (mut sin, mut cos) = (0, 0);
    for pair in COEFFICIENTS.as_chunks().0.iter().rev() {
        let [of_cos, of_sin] = *pair;
        (sin, cos) = (of_sin - mul_high(sin, square), of_cos - mul_high(cos, square));
    }
    let sin = mul_high(sin, x).cast_signed();
    (quarter, if rest < 0 { -sin } else { sin }, cos)
}

/// The sine and cosine of an angle and so many quarter turns.
fn by_quarters<T: core::ops::Neg<Output = T>>(quarter: u64, sin: T, cos: T) -> (T, T) {
    match quarter {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// a b / 2⁶⁴, or up to three less.
pub(crate) const fn mul_high(a: u64, b: u64) -> u64 {
    const LOW: u64 = u32::MAX as u64;
    let (high_a, low_a, high_b, low_b) = (a >> 32, a & LOW, b >> 32, b & LOW);
    high_a * high_b + ((high_a * low_b) >> 32) + ((low_a * high_b) >> 32)
}

/// The terms of a series: an even number.
const TERMS: usize = 16;

/// 1 / n!
const INVERSE_FACTORIALS: [f64; TERMS] = {
    let mut table = [1.0; TERMS];
    let (mut factorial, mut n) = (1.0, 1);
    while n < TERMS {
        factorial *= n as f64; // exact
        table[n] = 1.0 / factorial;
        n += 1;
    }
    table
};

/// The whole number next to x.
const fn round(x: f64) -> i64 {
    (if x < 0.0 { x - 0.5 } else { x + 0.5 }) as i64
}

/// 10ˣ, to a relative error of 2e-14 for |x| ≤ 16: the wavelengths of positions, the epsilons of norms.
pub(crate) const fn power_of_ten(x: f64) -> f64 {
    // 2ⁿ eʳ with |r| ≤ ln 2 / 2
    let n = round(x * LOG2_10);
    let r = x * LN_10 - n as f64 * LN_2;
    let (mut sum, mut i) = (0.0, TERMS);
    while i > 0 {
        i -= 1;
        sum = sum * r + INVERSE_FACTORIALS[i];
    }
    sum * f64::from_bits(((1023 + n) as u64) << 52)
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
