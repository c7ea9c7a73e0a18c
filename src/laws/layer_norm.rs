//! Laws of layer normalisation, n(x) = (x - E\[x\]) / √(Var\[x\] + ε) and y = γ ⊙ n(x) + β.
//!
//! Tolerances are multiples of 4u `D_MODEL` (1 + κ), the rounding of the two sums, with κ = max |x| / √(Var\[x\] + ε):
//! taking off the mean cancels digits of a token far from zero.

use super::{
    Law, close, largest,
    norm::{Moments, apply, scaled},
};
use crate::Norm;
use std::{format, vec::Vec};

/// E\[n\] = 0 and Var\[n\] = Var\[x\] / (Var\[x\] + ε), of a norm with gains 1 and biases 0
///
/// By definition. Tolerance: the rounding, and four times that for the variance, which is a square.
pub fn moments<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, epsilon: f32, tokens: &[[f32; D_MODEL]]) -> Law {
    for (x, n) in tokens.iter().zip(&apply(norm, tokens)) {
        let (before, after) = (Moments::centred(x), Moments::centred(n));
        let rounding = before.rounding(epsilon);
        close(&"mean", after.mean, 0.0, rounding)?;
        let variance = before.spread / (before.spread + f64::from(epsilon));
        close(&"variance", after.spread, variance, 4.0 * rounding * (1.0 + rounding))?;
    }
    Ok(())
}

/// y(x + c) = y(x) for a number c
///
/// The mean takes c with it. Tolerance: the rounding of x and of x + c, times 1 + max |y|.
pub fn shift<const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    epsilon: f32,
    shift: f32,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let moved: Vec<_> = tokens.iter().map(|x| x.map(|x| x + shift)).collect();
    let (y, z) = (apply(norm, tokens), apply(norm, &moved));
    for ((x, moved), (y, z)) in tokens.iter().zip(&moved).zip(y.iter().zip(&z)) {
        let rounding = Moments::centred(x).rounding(epsilon) + Moments::centred(moved).rounding(epsilon);
        for i in 0..D_MODEL {
            let tolerance = rounding * (1.0 + largest(y));
            close(&format!("feature {i}"), f64::from(z[i]), f64::from(y[i]), tolerance)?;
        }
    }
    Ok(())
}

/// n(s x) = n(x) √((Var\[x\] + ε) / (Var\[x\] + ε/s²)) for s > 0: but for ε, n(x)
///
/// Mean and deviation are proportional to x, ε is not. Tolerance: the rounding of x and of s x, times 1 + max |y|.
pub fn scale<const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    epsilon: f32,
    factor: f32,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    scaled(norm, Moments::centred, epsilon, factor, tokens)
}

/// n(n(x)) = n(x) / √(v + ε), where v = Var\[x\] / (Var\[x\] + ε): but for ε, n(x); of a norm with gains 1 and biases 0
///
/// What has mean 0 and variance v keeps its mean and is divided by the root of v + ε. Tolerance: the rounding, times
/// 1 + max |n|, times the factor if that is above 1.
pub fn idempotence<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, epsilon: f32, tokens: &[[f32; D_MODEL]]) -> Law {
    let once = apply(norm, tokens);
    for ((x, n), again) in tokens.iter().zip(&once).zip(&apply(norm, &once)) {
        let (moments, e) = (Moments::centred(x), f64::from(epsilon));
        let factor = 1.0 / (moments.spread / (moments.spread + e) + e).sqrt();
        let tolerance = 2.0 * moments.rounding(epsilon) * (1.0 + largest(n)) * factor.max(1.0);
        for i in 0..D_MODEL {
            close(&format!("feature {i}"), f64::from(again[i]), f64::from(n[i]) * factor, tolerance)?;
        }
    }
    Ok(())
}
