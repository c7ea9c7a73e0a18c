//! Embeddings.

use super::{Described, Hyperparameters};
use crate::{
    embedding::{PatchEmbedding, TextEmbedding, TokenEmbedding},
    format::Format,
    models::{BertEmbedding, SinusoidalEmbedding},
    norm::{Exponent, LayerNorm},
    shape::{KnownWidth, Width},
};

impl<const VOCABULARY: usize, const D_MODEL: usize> Described for TokenEmbedding<VOCABULARY, D_MODEL> {
    const HYPERPARAMETERS: Hyperparameters =
        Hyperparameters { vocabulary: Some(VOCABULARY), d_model: Some(D_MODEL), ..Hyperparameters::NONE };
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Described
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        vocabulary: Some(VOCABULARY),
        d_model: Some(D_MODEL),
        positions: Some(POSITIONS),
        ..Hyperparameters::NONE
    };
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent> Described
    for BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        vocabulary: Some(VOCABULARY),
        d_model: Some(D_MODEL),
        positions: Some(POSITIONS),
        types: Some(TYPES),
        embedding_epsilon: Some(LayerNorm::<D_MODEL, E>::EPSILON),
        ..Hyperparameters::NONE
    };
}

impl<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format> Described
    for PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T>
where
    Width<FEATURES>: KnownWidth,
{
    const HYPERPARAMETERS: Hyperparameters =
        Hyperparameters { d_model: Some(D_MODEL), positions: Some(POSITIONS), ..Hyperparameters::NONE };
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Described
    for SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    const HYPERPARAMETERS: Hyperparameters =
        Hyperparameters { vocabulary: Some(VOCABULARY), d_model: Some(D_MODEL), ..Hyperparameters::NONE };
}
