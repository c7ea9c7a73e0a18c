//! Whole models: what their parts say.

use super::{Described, Hyperparameters};
use crate::{
    activation::Activation,
    classifier::Classifier,
    embedding::Embedding,
    encoder::Encoder,
    family::Family,
    format::Format,
    layer::Layer,
    mask::Bidirectional,
    models::{Head, LanguageModel, MaskedLanguageModel, SinusoidalEmbedding, TextEncoder, TokenTable, Transformer},
    norm::{Exponent, LayerNorm},
    pooling::Pooling,
    shape::{KnownWidth, SplitInto, Width},
};

impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> Described for Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: Embedding<D_MODEL> + Described,
    L: Layer<D_MODEL> + Described,
    P: Pooling,
    T: Format,
    Width<D_MODEL>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters = L::HYPERPARAMETERS.and(E::HYPERPARAMETERS);
}

impl<E, L, const D_MODEL: usize, P> Described for TextEncoder<E, L, D_MODEL, P>
where
    E: Embedding<D_MODEL> + Described,
    L: Layer<D_MODEL> + Described,
    P: Pooling,
{
    const HYPERPARAMETERS: Hyperparameters = L::HYPERPARAMETERS.and(E::HYPERPARAMETERS);
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, H> Described for LanguageModel<E, L, D_MODEL, VOCABULARY, H>
where
    E: Embedding<D_MODEL> + Described,
    L: Layer<D_MODEL> + Described,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    const HYPERPARAMETERS: Hyperparameters = Hyperparameters { tied: Some(H::TIED), ..Hyperparameters::NONE }
        .and(L::HYPERPARAMETERS)
        .and(E::HYPERPARAMETERS);
}

/// Those of the encoder; the decoder is as its type says.
impl<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: Format,
> Described for Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters = Hyperparameters { tied: Some(true), ..Hyperparameters::NONE }
        .and(Encoder::<F, LAYERS, D_MODEL, D_FF, HEADS, T>::HYPERPARAMETERS)
        .and(SinusoidalEmbedding::<VOCABULARY, D_MODEL, POSITIONS>::HYPERPARAMETERS);
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, X: Exponent, A: Activation> Described
    for MaskedLanguageModel<E, L, D_MODEL, VOCABULARY, X, A>
where
    E: Embedding<D_MODEL> + TokenTable<VOCABULARY, D_MODEL> + Described,
    L: Layer<D_MODEL> + Described,
    Width<D_MODEL>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        tied: Some(true),
        head_epsilon: Some(LayerNorm::<D_MODEL, X>::EPSILON),
        head_activation: Some(A::NAME),
        ..Hyperparameters::NONE
    }
    .and(L::HYPERPARAMETERS)
    .and(E::HYPERPARAMETERS);
}
