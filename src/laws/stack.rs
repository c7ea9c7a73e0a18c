//! Laws of stacks. Both hold bit for bit.

use super::{Law, norm::apply, run, same};
use crate::{Encoder, Family, KnownWidth, Layer, SplitInto, Width};

/// A stack is its layers, one after the other.
pub fn layers<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const N: usize>(
    stack: &[impl Layer<D_MODEL>; N],
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let mut expected = tokens.to_vec();
    for layer in stack {
        expected = run::<D_MODEL, SEQ_LEN, TILE, _>(layer, &expected)?;
    }
    same("stack", &run::<D_MODEL, SEQ_LEN, TILE, _>(stack, tokens)?, &expected)
}

/// An encoder is its blocks, one after the other, and the final norm.
pub fn encoder<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
>(
    encoder: &Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>,
    tokens: &[[f32; D_MODEL]],
) -> Law
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let expected = apply(&encoder.norm, &run::<D_MODEL, SEQ_LEN, TILE, _>(&encoder.blocks, tokens)?);
    same("encoder", &run::<D_MODEL, SEQ_LEN, TILE, _>(encoder, tokens)?, &expected)
}
