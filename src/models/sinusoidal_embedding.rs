//! The embedding of the original transformer.

use super::TokenTable;
use crate::{
    cost::Macs,
    embedding::{Embedding, Incremental, InputError, TokenEmbedding, TrainableEmbedding},
    math, parameters,
    parameters::Table,
    position::{NoPosition, SinusoidalPositions},
    sequence::Sequence,
    token_format::TokenFormat,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// yₚ = √`D_MODEL` w(iₚ) + u(p), for the token id i at position p
///
/// | symbol | shape | is |
/// |---|---|---|
/// | w | `VOCABULARY` x `D_MODEL` | [`tokens`](Self::tokens) |
/// | u | `POSITIONS` x `D_MODEL` | [`SinusoidalPositions`], a table in flash that is no parameter |
/// | y | n x `D_MODEL` | the tokens |
///
/// Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017, sections 3.4 and 3.5.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SinusoidalEmbedding<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> {
    /// w
    pub tokens: TokenEmbedding<VOCABULARY, D_MODEL>,
}

parameters! {
    [const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize]
    SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS> { tokens }
    structure: |fingerprint| fingerprint.name("sinusoidal embedding").number(POSITIONS);
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize>
    SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    const POSITIONS: &'static SinusoidalPositions<D_MODEL, POSITIONS> = &SinusoidalPositions::new();
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Embedding<D_MODEL>
    for SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    type Input = u32;

    const MACS: Macs = Macs::once(0);

    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        self.forward_at(0, inputs, x)
    }
}

/// ∂wᵢ = √`D_MODEL` Σ ∂y of the tokens i
impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> TrainableEmbedding<D_MODEL>
    for SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    type Gradient = Self;

    fn backward(&self, inputs: &[u32], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        let scale = math::sqrt(D_MODEL as f32);
        dy.as_flattened_mut().iter_mut().for_each(|dy| *dy *= scale);
        self.tokens.backward(inputs, dy, &mut gradient.tokens);
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Incremental<D_MODEL>
    for SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn forward_at<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        position: usize,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        let scale = math::sqrt(D_MODEL as f32);
        self.tokens.embed(inputs, x, |first, tokens| {
            tokens.as_flattened_mut().iter_mut().for_each(|x| *x *= scale);
            Self::POSITIONS.add(position.saturating_add(first), tokens);
        })?;
        NoPosition::check::<POSITIONS>(position, inputs.len()).map_err(|error| {
            x.clear();
            error.into()
        })
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> TokenTable<VOCABULARY, D_MODEL>
    for SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.tokens.weight
    }

    fn table_mut(&mut self) -> &mut Table<VOCABULARY, D_MODEL> {
        &mut self.tokens.weight
    }
}
