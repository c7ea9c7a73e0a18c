//! Laws of softmax, yⱼ = exp xⱼ / Σᵢ exp xᵢ, for a function that replaces scores: such as
//! [`math::softmax`](crate::math::softmax).
//!
//! Tolerances are relative, and for n scores multiples of 2u (n + 4): a sum, an exponential, a division and a product.

use super::{Law, ROUNDING, close, holds};
use core::cmp::Ordering;
use std::{format, vec::Vec};

fn apply(softmax: impl Fn(&mut [f32]), scores: &[f32]) -> Vec<f32> {
    let mut y = scores.to_vec();
    softmax(&mut y);
    y
}

fn rounding(scores: &[f32]) -> f64 {
    2.0 * ROUNDING * (scores.len() as f64 + 4.0)
}

/// 0 ≤ yⱼ ≤ 1 and Σⱼ yⱼ = 1, whatever the scores; of scores that are all masked, -∞, all y are 0
///
/// By definition, but for rows fully masked, where it would be 0/0: nothing is attended to then. Tolerance: 2u (n + 4).
pub fn distribution(softmax: impl Fn(&mut [f32]), scores: &[f32]) -> Law {
    let y = apply(softmax, scores);
    if scores.iter().all(|x| *x == f32::NEG_INFINITY) {
        return holds(y.iter().all(|y| *y == 0.0), || format!("{y:?}, where all are masked"));
    }
    let tolerance = rounding(scores);
    let inside = y.iter().all(|y| 0.0 <= *y && f64::from(*y) <= 1.0 + tolerance);
    holds(inside, || format!("{y:?} of {scores:?}"))?;
    close(&format!("the sum of {y:?}"), y.iter().map(|y| f64::from(*y)).sum(), 1.0, tolerance)
}

/// y(x + c) = y(x) for a number c
///
/// exp c is in numerator and denominator. Tolerance: 2u (n + 4) relatively, and 4u (max |x| + |c|) for the rounding of
/// x + c; 10⁻³⁷ absolutely, where the exponential ends.
pub fn shift(softmax: impl Fn(&mut [f32]), scores: &[f32], shift: f32) -> Law {
    let moved: Vec<_> = scores.iter().map(|x| x + shift).collect();
    let rounding = rounding(scores) + 4.0 * ROUNDING * (super::largest(scores) + f64::from(shift.abs()));
    for (y, z) in apply(&softmax, scores).into_iter().zip(apply(&softmax, &moved)) {
        close(&"y", f64::from(z), f64::from(y), rounding * f64::from(y) + 1e-37)?;
    }
    Ok(())
}

/// xᵢ ≤ xⱼ makes yᵢ ≤ yⱼ, and equal scores have equal y, bit for bit
///
/// The exponential rises. Tolerance: 8u relatively, for neighbours among scores that an approximation may exchange.
pub fn monotone(softmax: impl Fn(&mut [f32]), scores: &[f32]) -> Law {
    let y = apply(softmax, scores);
    for (a, ya) in scores.iter().zip(&y) {
        for (b, yb) in scores.iter().zip(&y) {
            let [low, high] = [f64::from(*ya), f64::from(*yb)];
            let in_order = a > b || low <= high * (1.0 + 8.0 * ROUNDING);
            holds(in_order, || format!("{a:e} has {low:e}, {b:e} has {high:e}"))?;
            let alike = a.partial_cmp(b) != Some(Ordering::Equal) || ya.to_bits() == yb.to_bits();
            holds(alike, || format!("{a:e} has {low:e} and {high:e}"))?;
        }
    }
    Ok(())
}

/// A masked score, -∞, has a y of exactly 0, and changes nothing for the others
///
/// exp(-∞) = 0. Tolerance: 4u (n + 4) relatively, for sums in two orders.
pub fn masked(softmax: impl Fn(&mut [f32]), scores: &[f32]) -> Law {
    let visible: Vec<_> = scores.iter().copied().filter(|x| *x > f32::NEG_INFINITY).collect();
    let mut expected = apply(&softmax, &visible).into_iter();
    for (x, y) in scores.iter().zip(apply(&softmax, scores)) {
        if *x == f32::NEG_INFINITY {
            holds(y.to_bits() == 0, || format!("a masked score has a y of {y:e}"))?;
        } else {
            let expected = f64::from(expected.next().unwrap_or(f32::NAN));
            close(&"y", f64::from(y), expected, 2.0 * rounding(scores) * expected)?;
        }
    }
    Ok(())
}
