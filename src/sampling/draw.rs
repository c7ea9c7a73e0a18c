//! Weights in place of logits, and a token drawn by them.
//!
//! Weights are summed as integers, in [`units`]. So a sum is exact and the same in any order: what top-p keeps, what is
//! drawn, and what it is drawn from cannot disagree by rounding, and a seed gives the same token on all machines.

use super::{order::greatest, rand_core::Rng};
use crate::math::exp;

/// 2³¹ w: the weight of a token in units of 2⁻³¹ of the largest one, which is 1.
fn units(weight: f32) -> u64 {
    ((weight * 2_147_483_648.0) as u32).into()
}

/// Σ of the units.
pub(super) fn total(weights: &[f32]) -> u64 {
    weights.iter().map(|w| units(*w)).sum()
}

/// Logits become probabilities up to a factor, exp((x - max) / temperature), but 0 where they are not among the highest `k`.
///
/// Those equal to the k-th after the division by the temperature are kept too, as Hugging Face does.
pub(super) fn weigh(logits: &mut [f32], max: f32, temperature: f32, k: usize) {
    let least = if k < logits.len() {
        greatest(f32::NEG_INFINITY, max, |x| logits.iter().filter(|y| **y >= x).count() >= k)
    } else {
        f32::NEG_INFINITY
    };
    let least = least / temperature;
    for x in logits {
        // The difference first: a quotient could be infinite.
        *x = if *x / temperature >= least { exp((*x - max) / temperature) } else { 0.0 };
    }
}

/// Weights become 0 but for the smallest set of the most probable tokens whose probability is at least `p`.
///
/// Of equally probable ones at the end of the set, those with the highest ids are in it, as in Hugging Face where the sort
/// is stable.
pub(super) fn keep_nucleus(weights: &mut [f32], p: f32) {
    let from =
        |least: f32, weights: &[f32]| -> u64 { weights.iter().filter(|w| **w >= least).map(|w| units(*w)).sum() };
    let total = from(0.0, weights);
    let enough = (libm::ceil(f64::from(p) * total as f64) as u64).min(total);
    let least = greatest(0.0, 1.0, |least| from(least, weights) >= enough);
    // Of those that weigh as much as the least probable one of the set, some are not needed.
    let mut not_needed = (from(least, weights) - enough) / units(least).max(1);
    for w in weights {
        if *w < least {
            *w = 0.0;
        } else if *w == least && not_needed > 0 {
            *w = 0.0;
            not_needed -= 1;
        }
    }
}

/// Weights become probabilities.
pub(super) fn normalize(weights: &mut [f32]) {
    let scale = 1.0 / total(weights) as f64;
    for w in weights {
        *w = (units(*w) as f64 * scale) as f32;
    }
}

/// An id, as probable as it weighs.
pub(super) fn draw(weights: &[f32], rng: &mut (impl Rng + ?Sized)) -> Option<u32> {
    // Uniform below the total, with a bias of 2⁻³² at most.
    let mut left = ((u128::from(rng.next_u64()) * u128::from(total(weights))) >> 64) as u64;
    let drawn = weights.iter().position(|w| match left.checked_sub(units(*w)) {
        Some(less) => {
            left = less;
            false
        }
        None => true,
    });
    drawn.map(|id| id as u32)
}
