//! Softmax of fixed-point numbers.

use super::POINT;

/// Replaces scores by their softmax, yⱼ = exp xⱼ / Σᵢ exp xᵢ, each within 1e-4
///
/// Of more than 32,768 scores, those beyond are taken for -∞. PyTorch: `torch.softmax(x, dim=-1)`.
pub fn softmax(x: &mut [i32]) {
    let (x, beyond) = x.split_at_mut_checked(x.len().min(1 << 15)).unwrap_or_default();
    beyond.fill(0);
    let max = x.iter().fold(i32::MIN, |max, x| max.max(*x));
    let mut sum = 0u32;
    for x in &mut *x {
        let y = exp_of_difference(max, *x);
        sum += y;
        *x = y as i32;
    }
    // The sum, which is at least 2¹⁶, is s 2^shift with an s of 16 bits.
    let shift = 16u32.saturating_sub(sum.leading_zeros());
    let inverse = ((1u32 << 31) - 1).checked_div(sum >> shift).unwrap_or_default();
    for x in x {
        *x = ((*x as u32).wrapping_mul(inverse) >> (31 - POINT + shift)) as i32;
    }
}

/// exp(x - max), for an x of up to max: 2⁻ᵗ with t = (max - x) log₂ e, n whole and a fraction f.
#[inline(always)]
fn exp_of_difference(max: i32, x: i32) -> u32 {
    const LOG2_E: u64 = 94_548; // 2¹⁶ / ln 2
    let t = u64::from(max.wrapping_sub(x) as u32) * LOG2_E;
    let (n, f) = ((t >> (2 * POINT)) as u32, (t >> (POINT + 1)) as i32 & 0x7fff);
    // 2⁻ᶠ, a polynomial of degree 4 within 2e-6, and roundings.
    let y = 448;
    let y = ((y * f) >> 15) - 3_488;
    let y = ((y * f) >> 15) + 15_692;
    let y = ((y * f) >> 15) - 45_419;
    let y = ((y * f) >> 15) + 65_536;
    (y as u32).checked_shr(n).unwrap_or_default()
}
