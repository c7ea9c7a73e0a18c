//! Models that say what comes next.

use super::{CachedModel, CachedWorking, Head, Tied, cached::in_tiles};
use crate::{
    cache::{CachedLayer, Past},
    cost::{Macs, Model, Working},
    embedding::{Embedding, Incremental, InputError},
    layer::Layer,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    sequence::Empty,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = head(decoder(embedding(inputs))), of the last token
///
/// | symbol | shape | is |
/// |---|---|---|
/// | inputs | n | token ids |
/// | embedding | | `E`, an [`Embedding`] into `D_MODEL` features |
/// | decoder | | `L`, a [`Layer`] of `D_MODEL` features with its final norm: a [`Decoder`](crate::Decoder) |
/// | head | | `H`, [`Tied`] (the default) or a [`Linear`](crate::Linear) map to `VOCABULARY` logits |
/// | y | `VOCABULARY` | logits: a score for each token that may come next |
///
/// Radford et al., [Language Models are Unsupervised Multitask Learners][paper], 2019. Hugging Face: `GPT2LMHeadModel`,
/// `LlamaForCausalLM`.
///
/// [paper]: https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
///
/// ```
/// use constformer::{Decoder, Gpt2, LanguageModel, Memory, TextEmbedding, boxed};
///
/// /// Of 50,257 tokens, 768 features, 1,024 positions, 12 layers, 12 heads.
/// type Gpt2Small = LanguageModel<TextEmbedding<50_257, 768, 1024>, Decoder<Gpt2, 12, 768, 3072, 12>, 768, 50_257>;
///
/// type Small = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4>, 16, 11>;
/// let model = boxed::<Small>();
/// let mut memory = boxed::<Memory<Small, 8>>();
/// let mut logits = [0.0; 11];
/// model.forward(&[3, 1, 4], &mut memory, &mut logits)?;
/// # Ok::<(), constformer::InputError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LanguageModel<E, L, const D_MODEL: usize, const VOCABULARY: usize, H = Tied>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    /// Makes tokens of ids.
    pub embedding: E,
    /// Makes tokens of tokens.
    pub decoder: L,
    /// Makes logits of a token.
    pub head: H,
}

parameters! {
    [
        E: Embedding<D_MODEL>, L: Layer<D_MODEL>, const D_MODEL: usize, const VOCABULARY: usize,
        H: Head<E, D_MODEL, VOCABULARY>
    ]
    LanguageModel<E, L, D_MODEL, VOCABULARY, H> { embedding, decoder, head }
    structure: |fingerprint| fingerprint.name("language model").name(H::NAME).number(VOCABULARY);
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, H> Model for LanguageModel<E, L, D_MODEL, VOCABULARY, H>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>;

    const MACS: Macs = E::MACS.and(L::MACS).and(Macs::once((D_MODEL * VOCABULARY) as u64));
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, H> LanguageModel<E, L, D_MODEL, VOCABULARY, H>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    /// Writes the logits of what comes after `inputs`. The tokens of all positions are then in the stream of the memory.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are none, more than the memory has room for, or one that is not known; then `logits` are what
    /// they were.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
        logits: &mut [f32; VOCABULARY],
    ) -> Result<(), InputError> {
        self.observe(inputs, memory, logits, &mut Unobserved)
    }

    /// As [`forward`](Self::forward), and `observer` sees `embedding`, what happens inside of `decoder`, and the logits of the last
    /// token, `head`.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
        logits: &mut [f32; VOCABULARY],
        observer: &mut O,
    ) -> Result<(), InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        Watch::new(&Name::ROOT.field("embedding"), observer).sequence(stream);
        self.decoder.observe(stream, scratch, &Name::ROOT.field("decoder"), observer);
        self.logits(&stream.last().ok_or(Empty)?, logits);
        Watch::new(&Name::ROOT.field("head"), observer).row(stream.len().saturating_sub(1), logits);
        Ok(())
    }

    /// Writes the logits of a token that the decoder returned.
    pub fn logits(&self, token: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]) {
        self.head.logits(&self.embedding, token, logits);
    }
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, H> CachedModel for LanguageModel<E, L, D_MODEL, VOCABULARY, H>
where
    E: Embedding<D_MODEL>,
    L: CachedLayer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    type CachedMemory<const CAPACITY: usize, const TILE: usize> =
        CachedWorking<D_MODEL, TILE, L::Cache<CAPACITY>, L::StepScratch<CAPACITY, TILE>, L::Stream>;
}

impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, H> LanguageModel<E, L, D_MODEL, VOCABULARY, H>
where
    E: Incremental<D_MODEL>,
    L: CachedLayer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    /// Writes the logits of what comes after `inputs`, which come after those that the memory remembers.
    ///
    /// A prompt at once, then token by token, gives the logits of [`forward`](Self::forward) of all, bit for bit.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are none, more than the memory has room for or the embedding has positions, or one that is not
    /// known; then the memory remembers what it did, and `logits` are what they were.
    ///
    /// ```
    /// use constformer::{CachedMemory, Decoder, LanguageModel, Llama, TokenEmbedding, boxed, sampling::argmax};
    ///
    /// type Small = LanguageModel<TokenEmbedding<11, 16>, Decoder<Llama, 2, 16, 40, 4>, 16, 11>;
    ///
    /// let model = boxed::<Small>();
    /// let mut memory = boxed::<CachedMemory<Small, 32>>();
    /// let mut logits = [0.0; 11];
    /// model.extend(&[3, 1, 4], &mut memory, &mut logits)?; // the prompt
    /// for _ in 0..5 {
    ///     let next = argmax(&logits)?;
    ///     model.extend(&[next], &mut memory, &mut logits)?;
    /// }
    /// assert_eq!(memory.cache.len(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extend<const CAPACITY: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut CachedWorking<D_MODEL, TILE, L::Cache<CAPACITY>, L::StepScratch<CAPACITY, TILE>, L::Stream>,
        logits: &mut [f32; VOCABULARY],
    ) -> Result<(), InputError> {
        let CachedWorking { cache, stream, scratch } = memory;
        stream.clear();
        in_tiles::<_, _, CAPACITY, TILE>(inputs, cache, |inputs, cache| {
            self.embedding.forward_at(cache.position(), inputs, stream)?;
            Ok(self.decoder.extend(stream, cache, scratch)?)
        })?;
        self.logits(&stream.last().ok_or(Empty)?, logits);
        Ok(())
    }
}
