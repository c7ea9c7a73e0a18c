//! Blocks and stacks of a family.

use super::{
    counterexample::{Found, find},
    layers::{TILE, layer, permutation, prefix},
    norm,
};
use crate::{
    Family, Mask, Norm, Placement, Rotation, boxed,
    laws::{Member, extreme_tokens, models, residual, tokens},
};

/// As [`check::block`](crate::laws::check::block).
#[must_use]
pub fn block<B: Member<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    layer::<B, D_MODEL, SEQ_LEN>()
        .or_else(order::<B, D_MODEL, SEQ_LEN>)
        .or_else(norm::<<B::Family as Family>::Norm<D_MODEL>, D_MODEL>)
        .or_else(residuals::<B, D_MODEL, SEQ_LEN>)
        .or_else(parts::<B, D_MODEL, SEQ_LEN>)
}

/// What the mask says.
fn order<B: Member<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    if <B::Family as Family>::Mask::CAUSAL {
        prefix::<B, D_MODEL, SEQ_LEN>()
    } else if <B::Family as Family>::Rotation::PAIRING.is_none() && boxed::<B>().is_exact() {
        permutation::<B, D_MODEL, SEQ_LEN>()
    } else {
        None
    }
}

/// What the placement says.
fn residuals<B: Member<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    if B::BLOCKS == 0 || !boxed::<B>().is_exact() {
        return None;
    }
    let mut lists = [tokens::<D_MODEL>(0..=SEQ_LEN), extreme_tokens(0..=SEQ_LEN)].into_iter();
    if <B::Family as Family>::Placement::NORM_FIRST {
        return lists.find_map(|list| {
            find::<B, _>("residual::zero_branches", (list, models::<B>()), |(x, mut block)| {
                residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *block, &x)
            })
        });
    }
    let only_norms = lists.find_map(|list| {
        find::<B, _>("residual::only_norms", (list, models::<B>()), |(x, mut block)| {
            residual::only_norms::<B::Family, D_MODEL, SEQ_LEN, TILE>(&mut *block, 2 * B::BLOCKS, &x)
        })
    });
    if only_norms.is_some() || <B::Family as Family>::Norm::<D_MODEL>::RMS_AND_EPSILON.is_none() {
        return only_norms;
    }
    find::<B, _>("residual::normalised", (tokens(0..=SEQ_LEN), models::<B>()), |(x, mut block)| {
        residual::normalised::<B::Family, D_MODEL, SEQ_LEN, TILE>(&mut *block, &x)
    })
}

/// What it is made of.
fn parts<B: Member<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() -> Found {
    find::<B, _>(B::COMPOSITION, (tokens(0..=SEQ_LEN), models::<B>()), |(x, block)| {
        block.composition::<SEQ_LEN, TILE>(&x)
    })
}
