//! How inputs become tokens.

mod error;
mod patch;
mod text;
mod token;

pub use error::{InputError, UnknownToken};
pub use patch::{PatchEmbedding, patches};
pub use text::TextEmbedding;
pub use token::TokenEmbedding;

use crate::{
    cost::Macs,
    parameters::Parameters,
    sequence::{Empty, Sequence, TooLong},
    token_format::TokenFormat,
};

/// A map of inputs to tokens of `D_MODEL` features: [`TokenEmbedding`], [`TextEmbedding`], [`PatchEmbedding`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not embed into tokens of width {D_MODEL}",
    label = "an embedding into tokens with {D_MODEL} features is wanted here"
)]
pub trait Embedding<const D_MODEL: usize>: Parameters {
    /// One input: a token id, a patch of an image, a frame of sound.
    type Input;
    /// Multiplications and additions, by number of tokens.
    const MACS: Macs;

    /// `x` becomes the tokens of `inputs`.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are none, more than the sequence has room for, or one that is not known; then `x` is empty.
    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[Self::Input],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError>;
}

/// An [`Embedding`] that can be trained.
#[diagnostic::on_unimplemented(
    message = "the embedding `{Self}` has no gradient, so what it is a part of cannot be trained",
    label = "its weights must be `f32`"
)]
pub trait TrainableEmbedding<const D_MODEL: usize>: Embedding<D_MODEL> {
    /// The gradient: for weights of `f32`, a value of the same type.
    type Gradient: Embedding<D_MODEL>;

    /// Adds to the gradient, given those of the tokens of `inputs`, `dy`, which are overwritten. The inputs are those that
    /// [`forward`](Embedding::forward) was given.
    fn backward(&self, inputs: &[Self::Input], dy: &mut [[f32; D_MODEL]], gradient: &mut Self::Gradient);
}

/// An [`Embedding`] in which a token is a function of its input and its position alone, so that a text can be embedded piece by
/// piece: [`TokenEmbedding`], [`TextEmbedding`], [`SinusoidalEmbedding`](crate::SinusoidalEmbedding).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot embed a text piece by piece",
    label = "a `TokenEmbedding` or `TextEmbedding` into tokens with {D_MODEL} features is wanted here"
)]
pub trait Incremental<const D_MODEL: usize>: Embedding<D_MODEL> {
    /// `x` becomes the tokens of `inputs`, the first of which is at `position`.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are none, more than the sequence has room for or than there are positions, or one that is not
    /// known; then `x` is empty.
    fn forward_at<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        position: usize,
        inputs: &[Self::Input],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError>;
}

/// Makes `x` that many zeros and `extra` ones: where tokens are about to be written.
fn resize<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
    x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    inputs: usize,
    extra: usize,
) -> Result<(), InputError> {
    x.clear();
    if inputs == 0 {
        return Err(Empty.into());
    }
    let too_long = TooLong { capacity: SEQ_LEN.saturating_sub(extra), found: inputs };
    x.resize(inputs.saturating_add(extra)).map_err(|_| too_long.into())
}
