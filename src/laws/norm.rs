//! Laws of all norms, and what those of [`layer_norm`](super::layer_norm) and [`rms_norm`](super::rms_norm) share.

use super::{Law, ROUNDING, close, holds, largest, same, strategies::plain};
use crate::{Boxed, Norm, Parameters, boxed};
use std::{format, vec::Vec};

/// y = γ ⊙ n(x) + β, where `plain` is n: the same norm with gains 1 and biases 0
///
/// By definition. Tolerance: 4u (|γ n| + |β|), for a product and a sum rounded once or twice, and 2⁻¹²⁶, below which numbers
/// lose digits.
pub fn affine<const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    plain: &impl Norm<D_MODEL>,
    gain: &[f32; D_MODEL],
    bias: &[f32; D_MODEL],
    tokens: &[[f32; D_MODEL]],
) -> Law {
    for (y, n) in apply(norm, tokens).iter().zip(&apply(plain, tokens)) {
        for i in 0..D_MODEL {
            let [product, bias] = [f64::from(gain[i]) * f64::from(n[i]), f64::from(bias[i])];
            let tolerance = 4.0 * ROUNDING * (product.abs() + bias.abs()) + f64::from(f32::MIN_POSITIVE);
            close(&format!("feature {i}"), f64::from(y[i]), product + bias, tolerance)?;
        }
    }
    Ok(())
}

/// n(-x) = -n(x), bit for bit, of a norm without biases
///
/// Rounding does not see signs.
pub fn odd<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, tokens: &[[f32; D_MODEL]]) -> Law {
    let minus = |tokens: &[[f32; D_MODEL]]| -> Vec<_> { tokens.iter().map(|x| x.map(|x| 0.0 - x)).collect() };
    same("of -x", &minus(&apply(norm, &minus(tokens))), &minus(&minus(&apply(norm, tokens))))
}

/// |nᵢ(x)| ≤ √`D_MODEL`, whatever is in x, of a norm with gains 1 and biases 0
///
/// The squares of n have a mean of at most 1, so their sum is at most `D_MODEL`. Tolerance: 4u `D_MODEL`, relatively; that
/// of a sum of squares.
pub fn bounded<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, tokens: &[[f32; D_MODEL]]) -> Law {
    let width = D_MODEL as f64;
    for (x, n) in tokens.iter().zip(&apply(norm, tokens)) {
        let finite = n.iter().all(|n| n.is_finite());
        let bounded = finite && largest(n) <= width.sqrt() * (1.0 + 4.0 * ROUNDING * width);
        holds(bounded, || format!("{n:?} of {x:?}"))?;
    }
    Ok(())
}

/// Every token alone: a norm of many tokens is the norm of each, bit for bit.
pub fn every_token_alone<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, tokens: &[[f32; D_MODEL]]) -> Law {
    let single: Vec<_> = tokens.iter().flat_map(|x| apply(norm, &[*x])).collect();
    same("one by one", &apply(norm, tokens), &single)
}

/// A norm with gains 1 and biases 0.
pub(super) fn plain_norm<N: Parameters>() -> Boxed<N> {
    let mut norm = boxed::<N>();
    plain(&mut *norm, |_| true);
    norm
}

pub(super) fn apply<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, tokens: &[[f32; D_MODEL]]) -> Vec<[f32; D_MODEL]> {
    let mut tokens = tokens.to_vec();
    norm.forward(&mut tokens);
    tokens
}

/// What a norm divides by, and how well it can be known.
pub(super) struct Moments {
    pub(super) mean: f64,
    /// Var\[x\] or E\[x²\].
    pub(super) spread: f64,
    largest: f64,
    width: f64,
}

impl Moments {
    /// E\[x\] and Var\[x\]
    pub(super) fn centred(x: &[f32]) -> Self {
        let width = x.len() as f64;
        let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / width;
        let spread = x.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / width;
        Self { mean, spread, largest: largest(x), width }
    }

    /// E\[x²\]; 0 for the mean, of which nothing is taken off
    pub(super) fn uncentred(x: &[f32]) -> Self {
        let spread = x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / x.len() as f64;
        Self { mean: 0.0, spread, largest: largest(x), width: x.len() as f64 }
    }

    /// 4u `D_MODEL` (1 + κ): sums of `D_MODEL` numbers are that exact, and κ = max |x| / √(spread + ε) is how much taking
    /// off the mean magnifies it. A token whose features are equal but for rounding has a κ so large that nothing is asked.
    pub(super) fn rounding(&self, epsilon: f32) -> f64 {
        4.0 * ROUNDING * self.width * (1.0 + self.largest / (self.spread + f64::from(epsilon)).sqrt())
    }
}

/// n(s x) = n(x) √((spread + ε) / (spread + ε/s²)); n(x) is y - β, and β the norm of zeros.
pub(super) fn scaled<const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    moments: fn(&[f32]) -> Moments,
    epsilon: f32,
    factor: f32,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let larger: Vec<_> = tokens.iter().map(|x| x.map(|x| factor * x)).collect();
    let bias = &apply(norm, &[[0.0; D_MODEL]])[0];
    let e = f64::from(epsilon);
    for ((x, y), z) in tokens.iter().zip(&apply(norm, tokens)).zip(&apply(norm, &larger)) {
        let moments = moments(x);
        let ratio = ((moments.spread + e) / (moments.spread + e / f64::from(factor).powi(2))).sqrt();
        // Of s x, κ is that of x with ε/s² for ε.
        let rounding = moments.rounding(epsilon) + moments.rounding(epsilon / factor / factor);
        let tolerance = rounding * (1.0 + largest(y)) * ratio.max(1.0);
        for i in 0..D_MODEL {
            let bias = f64::from(bias[i]);
            close(&format!("feature {i}"), f64::from(z[i]), bias + (f64::from(y[i]) - bias) * ratio, tolerance)?;
        }
    }
    Ok(())
}
