//! The law of feed-forward layers.

use super::{Law, same, sequence};
use crate::{FeedForwardScratch, PositionWise, boxed};
use proptest::test_runner::TestCaseError;
use std::vec::Vec;

/// fᵢ(x₁ … xₙ) = f(xᵢ), bit for bit: the image of a token depends neither on the others nor on their order
///
/// Each token is multiplied by the same matrices, in the same order of additions, whatever shares its tile.
pub fn every_token_alone<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl PositionWise<D_MODEL, D_FF, Number = f32>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let images = transform::<D_MODEL, D_FF, SEQ_LEN, TILE>(layer, tokens)?;
    for (image, token) in images.iter().zip(tokens) {
        same("alone", &[*image], &transform::<D_MODEL, D_FF, SEQ_LEN, TILE>(layer, &[*token])?)?;
    }
    let reversed: Vec<_> = tokens.iter().rev().copied().collect();
    let mut images_of_reversed = transform::<D_MODEL, D_FF, SEQ_LEN, TILE>(layer, &reversed)?;
    images_of_reversed.reverse();
    same("reversed", &images_of_reversed, &images)
}

pub(super) fn transform<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl PositionWise<D_MODEL, D_FF, Number = f32>,
    tokens: &[[f32; D_MODEL]],
) -> Result<Vec<[f32; D_MODEL]>, TestCaseError> {
    let mut x = sequence::<D_MODEL, SEQ_LEN, f32>(tokens)?;
    layer.forward(&mut x, &mut boxed::<FeedForwardScratch<D_FF, TILE>>());
    Ok(x.tokens().to_vec())
}
