//! The embedding of BERT.

use crate::{
    cost::Macs,
    embedding::{Embedding, InputError, TokenEmbedding, TrainableEmbedding},
    message::Message,
    norm::{Exponent, LayerNorm, Norm, TrainableNorm},
    parameters,
    parameters::Table,
    position::{LearnedPositions, add, assert_room},
    sequence::{Sequence, TooLong},
    token_format::TokenFormat,
};
use typenum::U12;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// yₚ = norm(w(iₚ) + u(p) + v(t)), for the token id i at position p, in a text of type t
///
/// | symbol | shape | is |
/// |---|---|---|
/// | w | `VOCABULARY` x `D_MODEL` | [`tokens`](Self::tokens) |
/// | u | `POSITIONS` x `D_MODEL` | [`positions`](Self::positions); n is at most `POSITIONS` |
/// | v | `TYPES` x `D_MODEL` | [`types`](Self::types); t is 0, and 1 for the second text of a [pair](Self::forward_pair) |
/// | norm | | [`norm`](Self::norm), a [`LayerNorm`] with ε = 10⁻ᴱ, 1e-12 by default |
/// | y | n x `D_MODEL` | the tokens |
///
/// RoBERTa has one type, ε = 1e-5, and a table of positions whose first two rows are not those of tokens: `POSITIONS` is the
/// longest text, so 512 of a table of 514.
///
/// Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2018. Hugging Face: `BertEmbeddings`, without dropout.
///
/// ```
/// use constformer::{BertEmbedding, Embedding, Sequence, Zero};
///
/// static EMBEDDING: BertEmbedding<7, 5, 3> = BertEmbedding::ZERO; // VOCABULARY, D_MODEL, POSITIONS
/// let mut x = Sequence::<5, 3>::new();
/// EMBEDDING.forward(&[6, 0, 2], &mut x)?;
/// assert_eq!(x.len(), 3);
/// # Ok::<(), constformer::InputError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct BertEmbedding<
    const VOCABULARY: usize,
    const D_MODEL: usize,
    const POSITIONS: usize,
    const TYPES: usize = 2,
    E: Exponent = U12,
> {
    /// w
    pub tokens: TokenEmbedding<VOCABULARY, D_MODEL>,
    /// u
    pub positions: LearnedPositions<D_MODEL, POSITIONS>,
    /// v
    pub types: Table<TYPES, D_MODEL>,
    /// norm
    pub norm: LayerNorm<D_MODEL, E>,
}

parameters! {
    [const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent]
    BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E> { tokens, positions, types, norm }
    structure: |fingerprint| fingerprint.name("bert embedding");
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent>
    Embedding<D_MODEL> for BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    type Input = u32;

    const MACS: Macs = Macs::once(0);

    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        const { assert_types::<TYPES>(1) };
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        self.tokens.embed(inputs, x, |first, tokens| self.finish(first, tokens, inputs.len()))
    }
}

/// Of one text. What the norm was given is computed again, token by token.
impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent>
    TrainableEmbedding<D_MODEL> for BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    type Gradient = Self;

    fn backward(&self, inputs: &[u32], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        for (position, (id, dy)) in inputs.iter().zip(&mut *dy).enumerate() {
            let mut sum = self.tokens.row(*id).copied().unwrap_or([0.0; D_MODEL]);
            self.positions.add(position, core::slice::from_mut(&mut sum));
            self.types.rows.first().into_iter().for_each(|kind| add(&mut sum, kind));
            self.norm.backward(&[sum], core::slice::from_mut(dy), &mut gradient.norm);
            gradient.types.rows.first_mut().into_iter().for_each(|kind| add(kind, dy));
        }
        gradient.positions.add_gradient(dy);
        self.tokens.backward(inputs, dy, &mut gradient.tokens);
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent>
    BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    /// `x` becomes the tokens of a pair of texts, such as a question and an answer: the first of type 0, the second of type 1.
    /// The marks around them (`[CLS]`, `[SEP]`) are token ids like others.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the first is empty, or both are too long together, or there is an id that is not known; then `x` is
    /// empty.
    pub fn forward_pair<const SEQ_LEN: usize>(
        &self,
        first: &[u32],
        second: &[u32],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        const { assert_types::<TYPES>(2) };
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        self.tokens.forward(first, x)?;
        for id in second {
            let pushed = self.tokens.row(*id).map_err(InputError::from).and_then(|row| Ok(x.push(row)?));
            if let Err(error) = pushed {
                x.clear();
                return Err(match error {
                    InputError::TooLong(_) => {
                        TooLong { capacity: SEQ_LEN, found: first.len().saturating_add(second.len()) }.into()
                    }
                    other => other,
                });
            }
        }
        self.finish(0, x.tokens_mut(), first.len());
        Ok(())
    }

    /// Adds positions and types, that of the tokens from `second` on being 1, and normalises.
    /// Adds positions and types to the tokens from position `first` on, and normalises them. The second text begins at `second`.
    fn finish(&self, first: usize, tokens: &mut [[f32; D_MODEL]], second: usize) {
        self.positions.add(first, tokens);
        for (position, token) in (first..).zip(&mut *tokens) {
            if let Some(row) = self.types.rows.get(usize::from(position >= second)) {
                for (x, kind) in token.iter_mut().zip(row) {
                    *x += kind;
                }
            }
        }
        self.norm.forward(tokens);
    }
}

/// Refuses to compile fewer types than are needed.
const fn assert_types<const TYPES: usize>(needed: usize) {
    if TYPES < needed {
        Message::new()
            .text("an embedding with ")
            .number(TYPES)
            .text(" types of text (`TYPES`), where ")
            .number(needed)
            .text(" are needed")
            .panic();
    }
}
