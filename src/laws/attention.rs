//! Laws of attention, the only place where tokens meet.

use super::{Law, ROUNDING, close, largest, run, same, sequence};
use crate::{AttentionScratch, Family, Layer, MultiHeadAttention, Parameters, SplitInto, Width, boxed, mask::visible};
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// f(P x) = P f(x) for every permutation P of the tokens: without positions, a bidirectional layer does not see their order
///
/// A sum over tokens has no order. Rotation by one and exchange of the first two make all permutations, so these two are
/// tried. Tolerance: 2¹⁰ u (1 + max |f(x)|), about 2e-4, for sums in another order, magnified by
/// norms.
pub fn permutation<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let y = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?;
    let tolerance = 1024.0 * ROUNDING * (1.0 + largest(y.as_flattened()));
    let rotate = |tokens: &mut [[f32; D_MODEL]]| tokens.rotate_left(tokens.len().min(1));
    let exchange = |tokens: &mut [[f32; D_MODEL]]| {
        if let [a, b, ..] = tokens {
            core::mem::swap(a, b);
        }
    };
    let permutations: [(&str, &dyn Fn(&mut [[f32; D_MODEL]])); 2] = [("rotated", &rotate), ("exchanged", &exchange)];
    for (name, permute) in permutations {
        let (mut x, mut y) = (tokens.to_vec(), y.clone());
        permute(&mut x);
        permute(&mut y);
        let found = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, &x)?;
        for (token, (found, expected)) in found.iter().zip(&y).enumerate() {
            for (found, expected) in found.iter().zip(expected) {
                close(&format!("{name}, token {token}"), f64::from(*found), f64::from(*expected), tolerance)?;
            }
        }
    }
    Ok(())
}

/// f(x₁ … xₘ) are the first m of f(x₁ … xₙ), bit for bit, for every m ≤ n: no token of a causal layer sees a later one
///
/// What is masked has a weight of 0, and adding 0 rounds nothing. (The numbers must be finite: 0 times NaN is NaN.)
pub fn prefix<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let y = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?;
    for len in 0..tokens.len() {
        let found = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, &tokens[..len])?;
        same(&format!("the first {len}"), &found, &y[..len])?;
    }
    Ok(())
}

/// If W_V and W_O are the identity without biases, every feature of y lies between the least and the greatest of that feature
/// among the tokens seen; `attention` is made so
///
/// The context is an average, of positive weights that sum to 1. Tolerance: 4u (n + 8) max |x|, for weights that are rounded,
/// and their sum.
pub fn convexity<F: Family, const D_MODEL: usize, const HEADS: usize, const SEQ_LEN: usize, const TILE: usize>(
    attention: &mut MultiHeadAttention<F, D_MODEL, HEADS>,
    tokens: &[[f32; D_MODEL]],
) -> Law
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    attention.for_each_tensor_mut(|name, mut tensor| {
        let name: String = name.to_string();
        if name.starts_with("value.") || name.starts_with("output.") {
            tensor.fill(0.0);
            if name.ends_with("weight") {
                (0..D_MODEL).for_each(|i| tensor.set(i, i, 1.0));
            }
        }
    });
    let tolerance = 4.0 * ROUNDING * (tokens.len() as f64 + 8.0) * largest(tokens.as_flattened());
    for (position, y) in attend::<F, D_MODEL, HEADS, SEQ_LEN, TILE>(attention, tokens)?.iter().enumerate() {
        let visible = &tokens[..visible::<F::Mask>(position, tokens.len())];
        for (feature, y) in y.iter().enumerate() {
            let seen = visible.iter().map(|x| f64::from(x[feature]));
            let (least, greatest) =
                (seen.clone().fold(f64::INFINITY, f64::min), seen.fold(f64::NEG_INFINITY, f64::max));
            let what = format!("feature {feature} of token {position}, of {least:e} to {greatest:e}");
            let y = f64::from(*y);
            // Not `clamp`, which would let a NaN through.
            close(&what, y, if y < least { least } else { greatest.min(y) }, tolerance)?;
        }
    }
    Ok(())
}

/// Alone, a token attends to itself: y = W_O (W_V x + b_V) + b_O, bit for bit
///
/// The softmax of one score is 1.
pub fn one_token<F: Family, const D_MODEL: usize, const HEADS: usize, const SEQ_LEN: usize, const TILE: usize>(
    attention: &MultiHeadAttention<F, D_MODEL, HEADS>,
    token: &[f32; D_MODEL],
) -> Law
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    let y = attend::<F, D_MODEL, HEADS, SEQ_LEN, TILE>(attention, &[*token])?;
    same("alone", &y, &[attention.output.apply(&attention.value.apply(token))])
}

pub(super) fn attend<F: Family, const D_MODEL: usize, const HEADS: usize, const SEQ_LEN: usize, const TILE: usize>(
    attention: &MultiHeadAttention<F, D_MODEL, HEADS>,
    tokens: &[[f32; D_MODEL]],
) -> Result<Vec<[f32; D_MODEL]>, proptest::test_runner::TestCaseError>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    let mut x = sequence::<D_MODEL, SEQ_LEN, f32>(tokens)?;
    attention.forward(&mut x, &mut boxed::<AttentionScratch<D_MODEL, SEQ_LEN, TILE>>());
    Ok(x.tokens().to_vec())
}
