//! Laws of root mean square normalisation, n(x) = x / √(E\[x²\] + ε) and y = γ ⊙ n(x). See also [`norm::odd`](super::norm::odd).
//!
//! Tolerances are multiples of 4u `D_MODEL` (1 + κ), with κ = max |x| / √(E\[x²\] + ε), which is at most √`D_MODEL`: nothing
//! cancels.

use super::{
    Law, close,
    norm::{Moments, apply, scaled},
};
use crate::Norm;

/// E\[n²\] = E\[x²\] / (E\[x²\] + ε), of a norm with gains 1
///
/// By definition. Tolerance: twice the rounding, for a square.
pub fn mean_square<const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, epsilon: f32, tokens: &[[f32; D_MODEL]]) -> Law {
    for (x, n) in tokens.iter().zip(&apply(norm, tokens)) {
        let (before, after) = (Moments::uncentred(x), Moments::uncentred(n));
        let expected = before.spread / (before.spread + f64::from(epsilon));
        close(&"mean square", after.spread, expected, 2.0 * before.rounding(epsilon))?;
    }
    Ok(())
}

/// n(s x) = n(x) √((E\[x²\] + ε) / (E\[x²\] + ε/s²)) for s > 0: but for ε, n(x)
///
/// The root of the mean square is proportional to x, ε is not. Tolerance: the rounding of x and of s x, times 1 + max |y|.
pub fn scale<const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    epsilon: f32,
    factor: f32,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    scaled(norm, Moments::uncentred, epsilon, factor, tokens)
}
