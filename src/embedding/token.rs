//! Token ids.

use super::{Embedding, Incremental, InputError, UnknownToken, resize};
use crate::{cost::Macs, parameters, parameters::Table, sequence::Sequence};
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

    fn forward<const SEQ_LEN: usize>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        resize(x, inputs.len(), 0)?;
        for (id, token) in inputs.iter().zip(x.tokens_mut()) {
            match self.row(*id) {
                Ok(row) => *token = *row,
                Err(error) => {
                    x.clear();
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> Incremental<D_MODEL> for TokenEmbedding<VOCABULARY, D_MODEL> {
    fn forward_at<const SEQ_LEN: usize>(
        &self,
        _: usize,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        self.forward(inputs, x)
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> TokenEmbedding<VOCABULARY, D_MODEL> {
    /// wᵢ
    pub(crate) fn row(&self, id: u32) -> Result<&[f32; D_MODEL], UnknownToken> {
        self.weight.rows.get(id as usize).ok_or(UnknownToken { id, vocabulary: VOCABULARY })
    }
}
