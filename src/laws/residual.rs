//! Laws of residual connections, y = after(x + f(before(x))).

use super::{
    Law,
    attention::attend,
    close,
    feed_forward::transform,
    holds,
    norm::{apply, plain_norm},
    run, same, sequence,
    strategies::plain,
    values,
};
use crate::{EncoderBlock, Family, KnownWidth, Layer, Norm, Parameters, Placement, SplitInto, Width};
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
    no_branches(layer)?;
    let stored = values(&*sequence::<D_MODEL, SEQ_LEN, L::Stream>(&plus_zero(tokens))?);
    same("zero branches", &run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?, &stored)
}

/// f = 0 makes y = n(n(x)), bit for bit, under Post-LN; `layer`, a block, is made so, as by [`zero_branches`], and its norms have
/// gains 1 and biases 0: whatever lies in an `attention_norm` or a `feed_forward_norm`. Of a stack it is n once for each of `norms`
///
/// The stream is added to and normalised, and nothing else.
pub fn only_norms<F: Family, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &mut impl Layer<D_MODEL>,
    norms: usize,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    no_branches(layer)?;
    plain(layer, |name| name.contains("attention_norm.") || name.contains("feed_forward_norm."));
    let norm = plain_norm::<F::Norm<D_MODEL>>();
    let expected = (0..norms).fold(tokens.to_vec(), |x, _| apply(&*norm, &plus_zero(&x)));
    same("zero branches", &run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?, &expected)
}

/// Whatever the sub-layers return becomes zero.
fn no_branches(layer: &mut impl Parameters) -> Law {
    let mut ends = [false; 2];
    layer.for_each_tensor_mut(|name, mut tensor| {
        let name = name.to_string();
        for (end, found) in ["attention.output.", "feed_forward.outer."].iter().zip(&mut ends) {
            if name.contains(end) {
                *found = true;
                tensor.fill(0.0);
            }
        }
    });
    let missing = "a block has tensors called `attention.output` and `feed_forward.outer`; this has not";
    holds(ends == [true; 2], || missing.into())
}

/// What adding 0 makes of tokens: 0 of -0.
fn plus_zero<const D_MODEL: usize>(tokens: &[[f32; D_MODEL]]) -> Vec<[f32; D_MODEL]> {
    tokens.iter().map(|x| x.map(|x| x + 0.0)).collect()
}

/// n(y) = y under Post-LN, if the last norm has gains 1 and biases 0; `layer`, a block or a stack of them, is made so: whatever
/// lies in a `feed_forward_norm`
///
/// The block returns what its norm returned, and norms are idempotent. Tolerance: (10⁻⁴ + 5ε) (1 + |y|), for tokens whose sum with f
/// has a variance of 0.1 at least, as moderate ones have.
pub fn normalised<F: Family, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &mut impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    plain(layer, |name| name.contains("feed_forward_norm."));
    let epsilon = F::Norm::<D_MODEL>::RMS_AND_EPSILON.map_or(0.0, |(_, epsilon)| f64::from(epsilon));
    let y = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?;
    let again = apply(&*plain_norm::<F::Norm<D_MODEL>>(), &y);
    for (position, (y, again)) in y.iter().zip(&again).enumerate() {
        for (feature, (y, again)) in y.iter().zip(again).enumerate() {
            let tolerance = (1e-4 + 5.0 * epsilon) * (1.0 + f64::from(y.abs()));
            let what = format!("feature {feature} of token {position}, normalised again");
            close(&what, f64::from(*again), f64::from(*y), tolerance)?;
        }
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
