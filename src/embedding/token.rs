//! Token ids.

use super::{Embedding, Incremental, InputError, TrainableEmbedding, UnknownToken, resize};
use crate::{cost::Macs, parameters, parameters::Table, position::add, sequence::Sequence, token_format::TokenFormat};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = wᵢ for a token id i
///
/// | symbol | shape | is |
/// |---|---|---|
/// | i | 1 | a token id, below `VOCABULARY` |
/// | w | `VOCABULARY` x `D_MODEL` | [`weight`](Self::weight) |
/// | y | `D_MODEL` | a token |
///
/// PyTorch: `nn.Embedding(VOCABULARY, D_MODEL)`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TokenEmbedding<const VOCABULARY: usize, const D_MODEL: usize> {
    /// w
    pub weight: Table<VOCABULARY, D_MODEL>,
}

parameters! { [const VOCABULARY: usize, const D_MODEL: usize] TokenEmbedding<VOCABULARY, D_MODEL> { weight }
    structure: |fingerprint| fingerprint.name("token embedding");
}

impl<const VOCABULARY: usize, const D_MODEL: usize> Embedding<D_MODEL> for TokenEmbedding<VOCABULARY, D_MODEL> {
    type Input = u32;

    const MACS: Macs = Macs::once(0);

    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        self.embed(inputs, x, |_, _| ())
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> Incremental<D_MODEL> for TokenEmbedding<VOCABULARY, D_MODEL> {
    fn forward_at<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        _: usize,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        self.forward(inputs, x)
    }
}

/// ∂wᵢ = Σ ∂y of the tokens i
impl<const VOCABULARY: usize, const D_MODEL: usize> TrainableEmbedding<D_MODEL>
    for TokenEmbedding<VOCABULARY, D_MODEL>
{
    type Gradient = Self;

    fn backward(&self, inputs: &[u32], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        for (id, dy) in inputs.iter().zip(dy) {
            if let Some(row) = gradient.weight.rows.get_mut(*id as usize) {
                add(row, dy);
            }
        }
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> TokenEmbedding<VOCABULARY, D_MODEL> {
    /// `x` becomes the vectors of `inputs`, and what `then` makes of some of them, of which it is told the number of the first, after the
    /// other: so they are stored once.
    pub(crate) fn embed<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
        mut then: impl FnMut(usize, &mut [[f32; D_MODEL]]),
    ) -> Result<(), InputError> {
        resize(x, inputs.len(), 0)?;
        let mut known = Ok(());
        x.update(|first, tokens| {
            for (id, token) in inputs.iter().skip(first).zip(&mut *tokens) {
                match self.row(*id) {
                    Ok(row) => *token = *row,
                    Err(error) => known = known.and(Err(error)),
                }
            }
            then(first, tokens);
        });
        if known.is_err() {
            x.clear();
        }
        Ok(known?)
    }

    pub(crate) fn row(&self, id: u32) -> Result<&[f32; D_MODEL], UnknownToken> {
        self.weight.rows.get(id as usize).ok_or(UnknownToken { id, vocabulary: VOCABULARY })
    }
}
