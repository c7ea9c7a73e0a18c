//! From a token to a score for each token that may follow it.

use super::BertEmbedding;
use crate::{
    bias::Bias,
    embedding::{TextEmbedding, TokenEmbedding},
    format::Format,
    kernel,
    linear::Linear,
    machine::{Machine, Work, dispatch},
    norm::Exponent,
    parameters,
    parameters::{Parameters, Table},
    shape::{KnownWidth, Width},
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// The head of a [`LanguageModel`](crate::LanguageModel) with the embedding `E`: [`Tied`], or a [`Linear`] map of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a head from width {D_MODEL} to a vocabulary of {VOCABULARY} for the embedding `{E}`",
    label = "`Tied` or a `Linear<{D_MODEL}, {VOCABULARY}>` is wanted here"
)]
pub trait Head<E, const D_MODEL: usize, const VOCABULARY: usize>: Parameters {
    /// What tells it from others in the fingerprint of a model.
    const NAME: &'static str;
    /// Whether it is the embedding's table.
    const TIED: bool = false;

    /// Writes the logits of the token `x`.
    fn logits(&self, embedding: &E, x: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]);
}

/// An embedding with a vector for each of `VOCABULARY` tokens.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no table of {VOCABULARY} tokens of width {D_MODEL} for a tied head",
    label = "an embedding of {VOCABULARY} tokens is wanted here"
)]
pub trait TokenTable<const VOCABULARY: usize, const D_MODEL: usize> {
    /// The vectors.
    fn table(&self) -> &Table<VOCABULARY, D_MODEL>;
}

/// yᵢ = wᵢ · x: the embedding's table w is the head too
///
/// Press & Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859), 2016. Hugging
/// Face: `tie_word_embeddings`.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Tied;

parameters! { [] Tied {} }

impl<E, const D_MODEL: usize, const VOCABULARY: usize> Head<E, D_MODEL, VOCABULARY> for Tied
where
    E: TokenTable<VOCABULARY, D_MODEL>,
{
    const NAME: &'static str = "tied";
    const TIED: bool = true;

    fn logits(&self, embedding: &E, x: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]) {
        dispatch(Logits { table: &embedding.table().rows, x, out: logits });
    }
}

/// Logits of a token, each its product with a row of the table.
struct Logits<'a, const D_MODEL: usize> {
    table: &'a [[f32; D_MODEL]],
    x: &'a [f32; D_MODEL],
    out: &'a mut [f32],
}

impl<const D_MODEL: usize> Work for Logits<'_, D_MODEL> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        kernel::dots(m, self.table, self.x, self.out);
    }
}

impl<E, const D_MODEL: usize, const VOCABULARY: usize, T: Format, B: Bias> Head<E, D_MODEL, VOCABULARY>
    for Linear<D_MODEL, VOCABULARY, T, B>
where
    Width<D_MODEL>: KnownWidth,
{
    const NAME: &'static str = "linear";

    fn logits(&self, _: &E, x: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]) {
        let logits = core::slice::from_mut(logits);
        self.export(core::slice::from_ref(x), logits);
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> TokenTable<VOCABULARY, D_MODEL>
    for TokenEmbedding<VOCABULARY, D_MODEL>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.weight
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> TokenTable<VOCABULARY, D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.tokens.weight
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent>
    TokenTable<VOCABULARY, D_MODEL> for BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.tokens.weight
    }
}
