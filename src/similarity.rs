//! How near two vectors are: what sentence embeddings are for.

use libm::sqrt;

/// y = x / max(‖x‖, ε), the vector of length 1 in the direction of x, with ε = 1e-12
///
/// A vector of zeros stays one, a shorter one than ε stays shorter than 1, and one with an infinite number becomes NaN. Sums are in
/// `f64`, so that no finite x is too long. The module `Normalize` of
/// sentence-transformers; PyTorch: `F.normalize`.
///
/// ```
/// let mut x = [3.0, 4.0];
/// constformer::normalize(&mut x);
/// assert_eq!(x, [0.6, 0.8]);
/// ```
pub fn normalize<const N: usize>(x: &mut [f32; N]) {
    let scale = 1.0 / length(x, 1e-12);
    for x in x {
        *x = (f64::from(*x) * scale) as f32;
    }
}

/// cos(a, b) = a · b / (max(‖a‖, ε) max(‖b‖, ε)), from -1 to 1 but for rounding, with ε = 1e-8
///
/// 0 if one of them is zeros. Of [`normalize`]d vectors it is a · b. PyTorch: `F.cosine_similarity`.
///
/// ```
/// assert_eq!(constformer::cosine(&[1.0, 0.0], &[-2.0, 0.0]), -1.0);
/// assert_eq!(constformer::cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
/// ```
#[must_use]
pub fn cosine<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    (dot(a, b) / (length(a, 1e-8) * length(b, 1e-8))) as f32
}

fn dot<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// max(‖x‖, ε); NaN if x has one.
fn length<const N: usize>(x: &[f32; N], epsilon: f64) -> f64 {
    let length = sqrt(dot(x, x));
    if length < epsilon { epsilon } else { length }
}
