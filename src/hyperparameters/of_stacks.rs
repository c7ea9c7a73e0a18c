//! Stacks of blocks.

use super::{Described, Hyperparameters};
use crate::{
    cross::CrossDecoder,
    decoder::Decoder,
    encoder::Encoder,
    family::Family,
    feed_forward::PositionWise,
    format::Format,
    mask::{Causal, Mask},
    norm::Norm,
    residual::Placement,
    rotation::Rotation,
    shape::{KnownWidth, SharedBy, SplitInto, Width},
};

/// What a family and widths say.
const fn of<F: Family, const D_MODEL: usize, const D_FF: usize, T: Format>(
    layers: usize,
    heads: usize,
    kv_heads: usize,
) -> Hyperparameters
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    let norm = <F::Norm<D_MODEL> as Norm<D_MODEL>>::RMS_AND_EPSILON;
    Hyperparameters {
        layers: Some(layers),
        d_model: Some(D_MODEL),
        d_ff: Some(D_FF),
        heads: Some(heads),
        kv_heads: Some(kv_heads),
        norm_first: Some(F::Placement::NORM_FIRST),
        rms_norm: match norm {
            Some((rms, _)) => Some(rms),
            None => None,
        },
        epsilon: match norm {
            Some((_, epsilon)) => Some(epsilon),
            None => None,
        },
        causal: Some(F::Mask::CAUSAL),
        activation: Some(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::ACTIVATION),
        gated: Some(<F::FeedForward<D_MODEL, D_FF, T> as PositionWise<D_MODEL, D_FF>>::GATED),
        pairing: F::Rotation::PAIRING,
        theta: match F::Rotation::PAIRING {
            Some(_) => Some(F::Rotation::THETA),
            None => None,
        },
        ..Hyperparameters::NONE
    }
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Described
    for Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters = of::<F, D_MODEL, D_FF, T>(LAYERS, HEADS, HEADS);
}

impl<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format,
    const KV_HEADS: usize,
    const D_KV: usize,
> Described for Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
    Width<D_FF>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters = of::<F, D_MODEL, D_FF, T>(LAYERS, HEADS, KV_HEADS);
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Described
    for CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters =
        Hyperparameters { causal: Some(true), ..of::<F, D_MODEL, D_FF, T>(LAYERS, HEADS, HEADS) };
}
