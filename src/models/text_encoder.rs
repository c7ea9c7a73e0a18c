//! Models that turn a text into vectors.

use crate::{
    cost::{Macs, Model, Working},
    embedding::{Embedding, InputError},
    layer::Layer,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    pooling::{Mean, Pooling},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = encoder(embedding(inputs)), a vector for each token; pool(y), one for the text
///
/// | symbol | shape | is |
/// |---|---|---|
/// | inputs | n x `E::Input` | token ids |
/// | embedding | | `E`, an [`Embedding`] into `D_MODEL` features: [`BertEmbedding`](crate::BertEmbedding) |
/// | encoder | | `L`, a [`Layer`] of `D_MODEL` features: an [`Encoder`](crate::Encoder) |
/// | pool | | `P`, [`Mean`] (the default, as sentence embeddings have it) or [`FirstToken`](crate::FirstToken) |
/// | y | n x `D_MODEL` | the tokens |
///
/// Reimers & Gurevych, [Sentence-BERT](https://arxiv.org/abs/1908.10084), 2019. Hugging Face: `BertModel`, `RobertaModel`,
/// whose `last_hidden_state` is y. (Their pooler, a dense layer that few use, is no part of it.)
///
/// ```
/// use constformer::{Bert, BertEmbedding, Encoder, Memory, TextEncoder, boxed};
///
/// type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
///
/// type Small = TextEncoder<BertEmbedding<11, 16, 8>, Encoder<Bert, 2, 16, 64, 4>, 16>;
/// let (model, mut memory) = (boxed::<Small>(), boxed::<Memory<Small, 8>>());
/// assert_eq!(model.hidden(&[3, 1, 4], &mut memory)?.len(), 3);
/// let sentence: [f32; 16] = model.forward(&[3, 1, 4], &mut memory)?;
/// # Ok::<(), constformer::InputError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TextEncoder<E, L, const D_MODEL: usize, P = Mean>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
{
    /// Makes tokens of ids.
    pub embedding: E,
    /// Makes tokens of tokens.
    pub encoder: L,
    pooling: PhantomData<P>,
}

parameters! {
    [E: Embedding<D_MODEL>, L: Layer<D_MODEL>, const D_MODEL: usize, P: Pooling]
    TextEncoder<E, L, D_MODEL, P> { embedding, encoder, pooling }
    structure: |fingerprint| fingerprint.name("text encoder").name(P::NAME);
}

impl<E, L, const D_MODEL: usize, P> Model for TextEncoder<E, L, D_MODEL, P>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>;

    const MACS: Macs = E::MACS.and(L::MACS);
}

impl<E, L, const D_MODEL: usize, P> TextEncoder<E, L, D_MODEL, P>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
{
    /// The vector of a text.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are no inputs, more than the memory has room for, or one that is not known.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
    ) -> Result<[f32; D_MODEL], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward(stream, scratch);
        Ok(P::pool(stream)?)
    }
}

impl<E, L, const D_MODEL: usize, P> TextEncoder<E, L, D_MODEL, P>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL, Stream = f32>,
    P: Pooling,
{
    /// The vectors of the tokens of a text.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn hidden<'m, const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &'m mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>>,
    ) -> Result<&'m [[f32; D_MODEL]], InputError> {
        self.observe(inputs, memory, &mut Unobserved)
    }

    /// As [`hidden`](Self::hidden), and `observer` sees `embedding` and what happens inside of `encoder`.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn observe<'m, const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        inputs: &[E::Input],
        memory: &'m mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>>,
        observer: &mut O,
    ) -> Result<&'m [[f32; D_MODEL]], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        Watch::new(&Name::ROOT.field("embedding"), observer).sequence(stream);
        self.encoder.observe(stream, scratch, &Name::ROOT.field("encoder"), observer);
        Ok(stream.tokens())
    }
}
