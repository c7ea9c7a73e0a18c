//! The transformer: an encoder, and a decoder that attends to its output.

use super::{Head, SinusoidalEmbedding, Tied, cached::in_tiles};
use crate::{
    attention::LookedUpIn,
    cache::Cache,
    cost::{Macs, Model, Working},
    cross::{CrossDecoder, CrossScratch, Source},
    embedding::{Embedding, Incremental, InputError},
    encoder::Encoder,
    family::Family,
    format::Format,
    layer::Layer,
    mask::Bidirectional,
    number::Number,
    parameters,
    plain::Zero,
    sequence::{Empty, Sequence},
    shape::{KnownWidth, SplitInto, Width},
    sub_layers::Scratch,
    token_format::ComputedIn,
};
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

/// y = w decoder(embedding(target), encoder(embedding(source))), of the last token of the target
///
/// | symbol | shape | is |
/// |---|---|---|
/// | source, target | m, n | token ids |
/// | embedding | | [`SinusoidalEmbedding`], one for both |
/// | encoder | | `LAYERS` blocks of the family `F` |
/// | decoder | | `LAYERS` blocks with cross-attention: a token of the target sees all of the source, itself and those before it |
/// | w | `VOCABULARY` x `D_MODEL` | the table of the embedding, which is the head too ([`Tied`]) |
/// | y | `VOCABULARY` | logits: a score for each token that may come next in the target |
///
/// Texts have `POSITIONS` tokens at most. Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017.
/// PyTorch: `nn.Transformer`, which is without embedding and head and, other than the paper, has a final norm in both stacks.
///
/// ```
/// use constformer::{Transformer, TransformerMemory, Vaswani, boxed, sampling::argmax};
///
/// /// The paper's base model: 6 + 6 layers, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS.
/// type Base = Transformer<Vaswani, 6, 512, 2048, 8, 37_000, 256>;
///
/// type Small = Transformer<Vaswani, 2, 16, 32, 4, 11, 24>;
/// let model = boxed::<Small>();
/// let mut memory = boxed::<TransformerMemory<2, 16, 32, 24, 10>>(); // LAYERS, D_MODEL, D_FF, SOURCE_LEN, TARGET_LEN
/// let mut logits = [0.0; 11];
/// model.encode(&[5, 3, 7, 2], &mut memory)?;
/// model.extend(&[1], &mut memory, &mut logits)?; // what every target begins with
/// let first = argmax(&logits)?;
/// model.extend(&[first], &mut memory, &mut logits)?;
/// assert_eq!(memory.cache.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Transformer<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: Format = f32,
> where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// Makes tokens of ids; its table makes logits of a token.
    pub embedding: SinusoidalEmbedding<VOCABULARY, D_MODEL, POSITIONS>,
    /// Reads the source.
    pub encoder: Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>,
    /// Writes the target.
    pub decoder: CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>,
}

parameters! {
    [
        F: Family<Mask = Bidirectional>, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize,
        const VOCABULARY: usize, const POSITIONS: usize, T: Format
    ]
    Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T> { embedding, encoder, decoder }
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("transformer");
}

/// The memory of a [`Transformer`] for a source of up to `SOURCE_LEN` tokens and a target of up to `TARGET_LEN`: a `static`, or
/// `boxed` on a host.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct TransformerMemory<
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const SOURCE_LEN: usize,
    const TARGET_LEN: usize,
    const TILE: usize = { crate::TILE },
    K: LookedUpIn<N> = f32,
    X: ComputedIn<N> = f32,
    N: Number = f32,
> {
    /// What is remembered of the target: to be reset for another target of the same source, or rewound.
    pub cache: Cache<LAYERS, D_MODEL, TARGET_LEN, K>,
    source: Source<LAYERS, D_MODEL, SOURCE_LEN, K>,
    encoding: Working<D_MODEL, SOURCE_LEN, Scratch<D_MODEL, D_FF, SOURCE_LEN, TILE, D_MODEL, K, X, N>, X>,
    stream: Sequence<D_MODEL, TILE, X>,
    scratch: CrossScratch<D_MODEL, D_FF, TARGET_LEN, SOURCE_LEN, TILE, K, X, N>,
}

impl<
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const SOURCE_LEN: usize,
    const TARGET_LEN: usize,
    const TILE: usize,
    K: LookedUpIn<N>,
    X: ComputedIn<N>,
    N: Number,
> Zero for TransformerMemory<LAYERS, D_MODEL, D_FF, SOURCE_LEN, TARGET_LEN, TILE, K, X, N>
{
    const ZERO: Self =
        Self { cache: Zero::ZERO, source: Zero::ZERO, encoding: Zero::ZERO, stream: Zero::ZERO, scratch: Zero::ZERO };
}

/// The costs are those of a source and a target of as many tokens each, with logits for every token of the target.
impl<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: Format,
> Model for Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        TransformerMemory<LAYERS, D_MODEL, D_FF, SEQ_LEN, SEQ_LEN, TILE, T::KeyValues, T::Stream, T::Number>;

    const MACS: Macs = Encoder::<F, LAYERS, D_MODEL, D_FF, HEADS, T>::MACS
        .and(CrossDecoder::<F, LAYERS, D_MODEL, D_FF, HEADS, T>::MACS)
        .and(Macs::per_token((D_MODEL * VOCABULARY) as u64));
}

impl<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: Format,
> Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// Reads a source; the target begins anew.
    ///
    /// # Errors
    ///
    /// [`InputError`] if it has no tokens, more than the memory has room for or than there are positions, or one that is not
    /// known; then the memory remembers what it did.
    pub fn encode<const SOURCE_LEN: usize, const TARGET_LEN: usize, const TILE: usize>(
        &self,
        source: &[u32],
        memory: &mut TransformerMemory<
            LAYERS,
            D_MODEL,
            D_FF,
            SOURCE_LEN,
            TARGET_LEN,
            TILE,
            T::KeyValues,
            T::Stream,
            T::Number,
        >,
    ) -> Result<(), InputError> {
        let Working { stream, scratch } = &mut memory.encoding;
        self.embedding.forward(source, stream)?;
        self.encoder.forward(stream, scratch);
        self.decoder.attend_to(stream, &mut memory.source);
        memory.cache.reset();
        Ok(())
    }

    /// Writes the logits of what comes after the tokens `target`, which come after those that the memory remembers.
    ///
    /// A target at once or token by token gives the same, bit for bit. Before there is a source, it attends to none: its context is
    /// zeros.
    ///
    /// # Errors
    ///
    /// [`InputError`] as for [`encode`](Self::encode); then the memory remembers what it did, and `logits` are what they were.
    pub fn extend<const SOURCE_LEN: usize, const TARGET_LEN: usize, const TILE: usize>(
        &self,
        target: &[u32],
        memory: &mut TransformerMemory<
            LAYERS,
            D_MODEL,
            D_FF,
            SOURCE_LEN,
            TARGET_LEN,
            TILE,
            T::KeyValues,
            T::Stream,
            T::Number,
        >,
        logits: &mut [f32; VOCABULARY],
    ) -> Result<(), InputError> {
        let TransformerMemory { cache, source, stream, scratch, .. } = memory;
        stream.clear();
        in_tiles::<_, _, TARGET_LEN, TILE>(target, cache, |target, cache| {
            self.embedding.forward_at(cache.position(), target, stream)?;
            Ok(self.decoder.extend(stream, source, cache, scratch)?)
        })?;
        Tied.logits(&self.embedding, &stream.last().ok_or(Empty)?, logits);
        Ok(())
    }
}
