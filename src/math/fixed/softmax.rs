//! Softmax of fixed-point numbers.

use super::POINT;

/// Replaces scores by their softmax, yⱼ = exp xⱼ / Σᵢ exp xᵢ, each within 1e-4
///
/// Of more than 32,768 scores, those beyond are taken for -∞. PyTorch: `torch.softmax(x, dim=-1)`.
pub fn softmax(x: &mut [i32]) {
    let (x, beyond) = x.split_at_mut_checked(x.len().min(1 << 15)).unwrap_or_default();
    beyond.fill(0);
    let sum = exponentials(x, LOG2_E);
    // The sum, which is at least 2³⁰ or so, is s 2^shift with an s of 16 bits.
    let shift = 48u32.saturating_sub(sum.leading_zeros()).clamp(1, 31);
    let inverse = (i32::MAX as u32).checked_div((sum >> shift) as u32).unwrap_or_default();
    let half = 1 << (shift - 1);
    for x in x {
        *x = (((*x as u32 >> 15) * inverse + half) >> shift) as i32;
    }
}

/// 2¹⁶ log₂ e
pub(crate) const LOG2_E: i32 = 94_548;

/// Replaces scores by 2³⁰ exp(x - max x), where `scale` is [`LOG2_E`], or a part of it, by which scores are multiplied first; the sum of
/// those. So many bits, since many that are small make a sum that is not.
pub(crate) fn exponentials(x: &mut [i32], scale: i32) -> u64 {
    let max = x.iter().fold(i32::MIN, |max, x| max.max(*x));
    let (scale, mut sum) = (scale.cast_unsigned(), 0u64);
    for x in x {
        let y = exp_of_difference(max, *x, scale);
        sum += u64::from(y);
        *x = y as i32;
    }
    sum
}

/// exp(x - max), of which 2³⁰ are 1, for an x of up to max: 2⁻ᵗ with t = (max - x) log₂ e, n whole and a fraction f.
#[inline(always)]
fn exp_of_difference(max: i32, x: i32, scale: u32) -> u32 {
    let t = u64::from(max.wrapping_sub(x) as u32) * u64::from(scale);
    let (n, f) = ((t >> (2 * POINT)) as u32, (t >> (POINT + 1)) as i32 & 0x7fff);
    // 2⁻ᶠ, a polynomial of degree 4 within 2e-6, and roundings.
    let y = 448;
    let y = ((y * f) >> 15) - 3_488;
    let y = ((y * f) >> 15) + 15_692;
    let y = ((y * f) >> 15) - 45_419;
    let y = ((y * f) >> 15) + 65_536;
    ((y as u32) << 14).checked_shr(n).unwrap_or_default()
}
