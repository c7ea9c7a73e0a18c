//! Laws of residual connections, y = after(x + f(before(x))).

use super::{Law, attention::attend, close, feed_forward::transform, norm::apply, run, same, sequence, values};
use crate::{EncoderBlock, Family, KnownWidth, Layer, Norm, Parameters, Placement, PostLn, SplitInto, Width};
use std::{format, string::ToString, vec::Vec};

/// f = 0 makes y = x, bit for bit, under Pre-LN; `layer`, a block or a stack of them, is made so: whatever lies in an
/// `attention.output` or a `feed_forward.outer` becomes zero
///
/// The stream is added to and nothing else. (0 becomes 0 if it was -0.)
pub fn zero_branches<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &mut impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    zero_branches_of::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)
}

fn zero_branches_of<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &mut L,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    layer.for_each_tensor_mut(|name, mut tensor| {
        let name = name.to_string();
        if name.contains("attention.output.") || name.contains("feed_forward.outer.") {
            tensor.fill(0.0);
        }
    });
    let stored = values(&*sequence::<D_MODEL, SEQ_LEN, L::Stream>(tokens)?);
    same("zero branches", &run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?, &stored)
}

/// norm(y) = y under Post-LN, if the last norm has gains 1 and biases 0; `block` is made so
///
/// The block returns what its norm returned, and norms are idempotent. Tolerance: 10⁻⁴ (1 + |y|), for ε ≤ 10⁻⁵ and tokens whose
/// sum with f has a variance of 0.1 at least, as moderate ones have.
pub fn normalised<
    F: Family<Placement = PostLn>,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
>(
    block: &mut EncoderBlock<F, D_MODEL, D_FF, HEADS>,
    tokens: &[[f32; D_MODEL]],
) -> Law
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    block.feed_forward_norm.for_each_tensor_mut(|name, mut tensor| {
        tensor.fill(if name.to_string().ends_with("weight") { 1.0 } else { 0.0 });
    });
    let y = run::<D_MODEL, SEQ_LEN, TILE, _>(block, tokens)?;
    let again = apply(&block.feed_forward_norm, &y);
    for (i, (y, again)) in y.as_flattened().iter().zip(again.as_flattened()).enumerate() {
        close(&format!("number {i}"), f64::from(*again), f64::from(*y), 1e-4 * (1.0 + f64::from(y.abs())))?;
    }
    Ok(())
}

/// A block is its sub-layers, bit for bit: y = after(z + `feed_forward`(before(z))), z = after(x + attention(before(x))).
/// Under Pre-LN, what a block adds to the stream is what the sub-layers return
///
/// By definition; sums are in the same order, wherever they are made.
pub fn composition<
    F: Family,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
>(
    block: &EncoderBlock<F, D_MODEL, D_FF, HEADS>,
    tokens: &[[f32; D_MODEL]],
) -> Law
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let before = |norm: &F::Norm<D_MODEL>, x: &[[f32; D_MODEL]]| {
        if F::Placement::NORM_FIRST { apply(norm, x) } else { x.to_vec() }
    };
    let after = |norm: &F::Norm<D_MODEL>, x: &[[f32; D_MODEL]], f: &[[f32; D_MODEL]]| {
        let mut y: Vec<_> = x.to_vec();
        y.as_flattened_mut().iter_mut().zip(f.as_flattened()).for_each(|(y, f)| *y += f);
        if !F::Placement::NORM_FIRST {
            norm.forward(&mut y);
        }
        y
    };
    let EncoderBlock { attention, attention_norm, feed_forward, feed_forward_norm } = block;
    let f = attend::<F, D_MODEL, HEADS, SEQ_LEN, TILE>(attention, &before(attention_norm, tokens))?;
    let z = after(attention_norm, tokens, &f);
    let f = transform::<D_MODEL, D_FF, SEQ_LEN, TILE>(feed_forward, &before(feed_forward_norm, &z))?;
    same("block", &run::<D_MODEL, SEQ_LEN, TILE, _>(block, tokens)?, &after(feed_forward_norm, &z, &f))
}
