//! Token ids and their positions.

use super::{Embedding, Incremental, InputError, TokenEmbedding};
use crate::{cost::Macs, parameters, position::LearnedPositions, sequence::Sequence};
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

    fn forward<const SEQ_LEN: usize>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        self.tokens.forward(inputs, x)?;
        self.positions.forward(x);
        Ok(())
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> Incremental<D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn forward_at<const SEQ_LEN: usize>(
        &self,
        position: usize,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        self.tokens.forward(inputs, x)?;
        self.positions.forward_at(position, x).map_err(|error| {
            x.clear();
            error.into()
        })
    }
}
