//! LayerNorm of fixed-point numbers.

use super::POINT;

/// Replaces a token by γ ⊙ x̂ + β with x̂ = (x - E\[x\]) / √(Var\[x\] + ε), within 1e-4 (1 + |γ| (1 + |x̂|))
///
/// `weight` is γ, `bias` β, and ε at least 0 and at most 2⁴⁰, or taken for that. Features that lie 32,768 or more from the mean are taken to lie as far as is possible.
/// PyTorch: `nn.LayerNorm(D, eps)`.
pub fn layer_norm<const D: usize>(x: &mut [i32; D], weight: &[i32; D], bias: &[i32; D], epsilon: f32) {
    normalize::<true, D>(x, weight.iter().copied().zip(bias.iter().copied()), epsilon);
}

/// LayerNorm, or RMSNorm, which takes the mean for 0, of which `affine` is γ and β.
pub(crate) fn normalize<const CENTRED: bool, const D: usize>(
    x: &mut [i32; D],
    affine: impl Iterator<Item = (i32, i32)>,
    epsilon: f32,
) {
    const { assert!(D <= 1 << 15, "norms of fixed-point numbers: at most 32,768 features") }
    let sum = if CENTRED { x.iter().map(|x| i64::from(*x)).sum() } else { 0i64 };
    let mean = mean(sum, D);
    let mut greatest = 0;
    for x in &mut *x {
        *x = x.saturating_sub(mean);
        greatest |= x.unsigned_abs();
    }
    // Centred numbers become integers of up to 30 bits, so that all of these are of use, also of what the mean was rounded by, and of up to
    // 23, the sum of whose squares fits.
    let up = greatest.leading_zeros().saturating_sub(1).min(29).min(highest_up(epsilon));
    let of_mean = (quotient((sum - i64::from(mean) * D as i64).unsigned_abs() << 24, D as u32) << up) >> 25;
    let of_mean = if sum < 0 { -(of_mean as i32) } else { of_mean as i32 };
    let mut squares = 0;
    for x in &mut *x {
        *x = ((*x << up) >> 1) - of_mean;
        squares += i64::from(*x >> TO_23_BITS).pow(2) as u64;
    }
    let unit = 2 * (POINT as i32 + up as i32 - 1 - TO_23_BITS as i32);
    let variance = quotient(squares, D as u32).saturating_add(power_of_two_times(epsilon, unit)).min(1 << 62);
    // Variance and deviation of 32 and 16 bits, and what was left out of the former and the latter.
    let lead = variance.leading_zeros() / 2;
    let deviation = ((variance << (2 * lead).min(63)) >> 32) as u32;
    let inverse = (i32::MAX as u32).checked_div(deviation.isqrt()).unwrap_or_default() << 14;
    let down = 20u32.saturating_sub(lead);
    for (x, (weight, bias)) in x.iter_mut().zip(affine) {
        let normal = ((i64::from(*x) * i64::from(inverse)) >> 32) as i32 >> down;
        let y = ((i64::from(normal) * i64::from(weight)) >> POINT) + i64::from(bias);
        *x = i32::try_from(y).unwrap_or(if y < 0 { i32::MIN } else { i32::MAX });
    }
}

const TO_23_BITS: u32 = 7;

/// The mean of `count` numbers of that sum, rounded towards 0.
fn mean(sum: i64, count: usize) -> i32 {
    // Of moderate numbers the sum has 32 bits, which are divided by one instruction.
    match i32::try_from(sum) {
        Ok(sum) => sum.checked_div(count as i32).unwrap_or_default(),
        Err(_) => sum.checked_div(count as i64).unwrap_or_default() as i32,
    }
}

/// a / b, of which 16 bits at least are right, without a division of 64 bits.
fn quotient(a: u64, b: u32) -> u64 {
    let lead = a.leading_zeros().min(63);
    let inverse = u32::MAX.checked_div(b).unwrap_or_default();
    (((a << lead) >> 32) * u64::from(inverse)) >> lead
}

/// By how many bits centred numbers are shifted at most, so that ε fits beside the mean of their squares.
const fn highest_up(epsilon: f32) -> u32 {
    let exponent = (epsilon.to_bits() >> 23 & 0xff).cast_signed() - 127;
    let up = (61 - exponent) / 2 - POINT.cast_signed() + 1 + TO_23_BITS.cast_signed();
    if up < 0 { 0 } else { up.cast_unsigned() }
}

/// 2ⁿ x, rounded down, for an x of 0 or more; 2⁶² at most, also of what is not finite.
const fn power_of_two_times(x: f32, n: i32) -> u64 {
    let bits = x.to_bits();
    let (fraction, exponent) = (bits & 0x007f_ffff | 0x0080_0000, (bits >> 23 & 0xff) as i32 - 150 + n);
    match exponent {
        _ if bits == 0 || bits >> 31 == 1 => 0,
        ..-31 => 0,
        -31..0 => (fraction >> -exponent) as u64,
        0..39 => (fraction as u64) << exponent,
        _ => 1 << 62,
    }
}
