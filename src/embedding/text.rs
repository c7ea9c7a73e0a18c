//! Token ids and their positions.

use super::{Embedding, Incremental, InputError, TokenEmbedding, TrainableEmbedding};
use crate::{
    cost::Macs,
    parameters,
    position::{LearnedPositions, NoPosition, assert_room},
    sequence::Sequence,
    token_format::TokenFormat,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// yₚ = w(iₚ) + u(p), for the token id i at position p
///
/// | symbol | shape | is |
/// |---|---|---|
/// | w | `VOCABULARY` x `D_MODEL` | [`tokens`](Self::tokens) |
/// | u | `POSITIONS` x `D_MODEL` | [`positions`](Self::positions) |
/// | y | n x `D_MODEL` | the tokens |
///
/// GPT-2's names: `wte` and `wpe`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TextEmbedding<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> {
    /// w
    pub tokens: TokenEmbedding<VOCABULARY, D_MODEL>,
    /// u
    pub positions: LearnedPositions<D_MODEL, POSITIONS>,
}

parameters! {
    [const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize]
    TextEmbedding<VOCABULARY, D_MODEL, POSITIONS> { tokens, positions }
    structure: |fingerprint| fingerprint.name("text embedding");
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Embedding<D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    type Input = u32;

    const MACS: Macs = Macs::once(0);

    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        self.tokens.embed(inputs, x, |first, tokens| self.positions.add(first, tokens))
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> TrainableEmbedding<D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    type Gradient = Self;

    fn backward(&self, inputs: &[u32], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        gradient.positions.add_gradient(dy);
        self.tokens.backward(inputs, dy, &mut gradient.tokens);
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Incremental<D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn forward_at<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        position: usize,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        self.tokens.embed(inputs, x, |first, tokens| self.positions.add(position.saturating_add(first), tokens))?;
        NoPosition::check::<POSITIONS>(position, inputs.len()).map_err(|error| {
            x.clear();
            error.into()
        })
    }
}
