//! Models that say what was masked.

use super::{MaskedHead, TokenTable};
use crate::{
    activation::{Activation, Gelu},
    cost::{Macs, Model, Working},
    embedding::{Embedding, InputError},
    layer::Layer,
    norm::Exponent,
    parameters,
    shape::{KnownWidth, Width},
};
use typenum::U12;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = head(encoder(embedding(inputs))), for any token
///
/// | symbol | shape | is |
/// |---|---|---|
/// | inputs | n | token ids, some of them that of `[MASK]` |
/// | embedding | | `E`, an [`Embedding`] with a table of `VOCABULARY` tokens: [`BertEmbedding`](crate::BertEmbedding) |
/// | encoder | | `L`, a [`Layer`] of `D_MODEL` features: an [`Encoder`](crate::Encoder) |
/// | head | | [`head`](Self::head), a [`MaskedHead`] with ε = 10⁻ˣ, 1e-12 by default, and the activation `A` |
/// | y | `VOCABULARY` | logits: a score for each token that may stand there |
///
/// Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2018. Hugging Face: `BertForMaskedLM`, and with ε = 1e-5
/// `RobertaForMaskedLM`.
///
/// ```
/// use constformer::{Bert, BertEmbedding, Encoder, MaskedLanguageModel, Memory, boxed};
///
/// type BertBase =
///     MaskedLanguageModel<BertEmbedding<30_522, 768, 512>, Encoder<Bert, 12, 768, 3072, 12>, 768, 30_522>;
///
/// type Small = MaskedLanguageModel<BertEmbedding<11, 16, 8>, Encoder<Bert, 2, 16, 64, 4>, 16, 11>;
/// let (model, mut memory) = (boxed::<Small>(), boxed::<Memory<Small, 8>>());
/// let hidden = model.hidden(&[3, 1, 4], &mut memory)?;
/// let mut logits = [0.0; 11];
/// model.logits(&hidden[1], &mut logits); // what may stand in place of the 1
/// # Ok::<(), constformer::InputError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct MaskedLanguageModel<
    E,
    L,
    const D_MODEL: usize,
    const VOCABULARY: usize,
    X: Exponent = U12,
    A: Activation = Gelu,
> where
    E: Embedding<D_MODEL> + TokenTable<VOCABULARY, D_MODEL>,
    L: Layer<D_MODEL>,
    Width<D_MODEL>: KnownWidth,
{
    /// Makes tokens of ids.
    pub embedding: E,
    /// Makes tokens of tokens.
    pub encoder: L,
    /// Makes logits of a token.
    pub head: MaskedHead<D_MODEL, VOCABULARY, X, A>,
}

parameters! {
    [
        E: Embedding<D_MODEL> + TokenTable<VOCABULARY, D_MODEL>, L: Layer<D_MODEL>, const D_MODEL: usize,
        const VOCABULARY: usize, X: Exponent, A: Activation
    ]
    MaskedLanguageModel<E, L, D_MODEL, VOCABULARY, X, A> { embedding, encoder, head }
    where { Width<D_MODEL>: KnownWidth }
    structure: |fingerprint| fingerprint.name("masked language model");
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, X: Exponent, A: Activation> Model
    for MaskedLanguageModel<E, L, D_MODEL, VOCABULARY, X, A>
where
    E: Embedding<D_MODEL> + TokenTable<VOCABULARY, D_MODEL>,
    L: Layer<D_MODEL>,
    Width<D_MODEL>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>;

    /// With one token's logits.
    const MACS: Macs = E::MACS.and(L::MACS).and(MaskedHead::<D_MODEL, VOCABULARY, X, A>::MACS);
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, X: Exponent, A: Activation>
    MaskedLanguageModel<E, L, D_MODEL, VOCABULARY, X, A>
where
    E: Embedding<D_MODEL> + TokenTable<VOCABULARY, D_MODEL>,
    L: Layer<D_MODEL, Stream = f32>,
    Width<D_MODEL>: KnownWidth,
{
    /// The vectors of the tokens, of which [`logits`](Self::logits) makes logits.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are no inputs, more than the memory has room for, or one that is not known.
    pub fn hidden<'m, const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &'m mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
    ) -> Result<&'m [[f32; D_MODEL]], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward(stream, scratch);
        Ok(stream.tokens())
    }

    /// Writes the logits of what may stand in place of a token that [`hidden`](Self::hidden) returned.
    pub fn logits(&self, token: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]) {
        self.head.logits(&self.embedding, token, logits);
    }
}
