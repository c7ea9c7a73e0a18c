//! Whole models: what their parts say.

use super::{Described, Hyperparameters};
use crate::{
    classifier::Classifier,
    embedding::Embedding,
    format::Format,
    layer::Layer,
    models::{Head, LanguageModel, TextEncoder},
    pooling::Pooling,
};

impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> Described for Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: Embedding<D_MODEL> + Described,
    L: Layer<D_MODEL> + Described,
    P: Pooling,
    T: Format,
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
