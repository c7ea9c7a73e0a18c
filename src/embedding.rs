//! How inputs become tokens.

use crate::{
    cost::Macs,
    format::Format,
    kernel::Add,
    linear::Linear,
    message::Message,
    parameters,
    parameters::{Parameters, Table},
    position::LearnedPositions,
    sequence::{Empty, Sequence, TooLong},
};
use core::{error::Error, fmt};
use zerocopy::{FromBytes, Immutable, KnownLayout};

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
    fn forward<const SEQ_LEN: usize>(
        &self,
        inputs: &[Self::Input],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError>;
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
    fn forward_at<const SEQ_LEN: usize>(
        &self,
        position: usize,
        inputs: &[Self::Input],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError>;
}

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

/// y₀ = c + u(0), yₚ = W xₚ + b + u(p) for p ≥ 1
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | (n - 1) x `FEATURES` | patches of an image, frames of a spectrogram; x₁ is the first |
/// | c | `D_MODEL` | [`class_token`](Self::class_token), put in front; a classifier reads its answer there |
/// | W, b | `D_MODEL` x `FEATURES`, `D_MODEL` | [`projection`](Self::projection) |
/// | u | `POSITIONS` x `D_MODEL` | [`positions`](Self::positions), that of the class token included |
/// | y | n x `D_MODEL` | the tokens; n is at most `POSITIONS` |
///
/// Dosovitskiy et al., [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), 2020. PyTorch's `torchvision`:
/// `conv_proj`, `class_token`, `encoder.pos_embedding` of `VisionTransformer`. [`patches`] cuts an image up.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct PatchEmbedding<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format = f32> {
    /// W, b
    pub projection: Linear<FEATURES, D_MODEL, T>,
    /// c
    pub class_token: [f32; D_MODEL],
    /// u
    pub positions: LearnedPositions<D_MODEL, POSITIONS>,
}

parameters! {
    [const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format]
    PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T> { projection, class_token, positions }
    structure: |fingerprint| fingerprint.name("patch embedding");
}

impl<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format> Embedding<D_MODEL>
    for PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T>
{
    type Input = [f32; FEATURES];

    const MACS: Macs = Macs::per_token_but_first((FEATURES * D_MODEL) as u64);

    fn forward<const SEQ_LEN: usize>(
        &self,
        inputs: &[[f32; FEATURES]],
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), InputError> {
        resize(x, inputs.len(), 1)?;
        self.positions.forward(x);
        if let Some((first, patches)) = x.tokens_mut().split_first_mut() {
            for (x, class_token) in first.iter_mut().zip(&self.class_token) {
                *x += class_token;
            }
            self.projection.multiply(inputs, Add(patches));
        }
        Ok(())
    }
}

/// Makes `x` that many zeros and `extra` ones: where tokens are about to be written.
fn resize<const D_MODEL: usize, const SEQ_LEN: usize>(
    x: &mut Sequence<D_MODEL, SEQ_LEN>,
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

/// The patches of `SIDE` x `SIDE` pixels of an image, row by row, each flattened row by row
///
/// `FEATURES` is `SIDE`², and `PATCHES` is `HEIGHT` `WIDTH` / `SIDE`²; other numbers do not compile.
///
/// ```
/// let image = [[0, 1, 2, 3], [4, 5, 6, 7]].map(|row| row.map(|pixel| pixel as f32));
/// let patches = constformer::patches::<2, 4, 2, 4, 2>(&image);
/// assert_eq!(patches, [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]);
/// ```
#[must_use]
pub fn patches<
    const HEIGHT: usize,
    const WIDTH: usize,
    const SIDE: usize,
    const FEATURES: usize,
    const PATCHES: usize,
>(
    image: &[[f32; WIDTH]; HEIGHT],
) -> [[f32; FEATURES]; PATCHES] {
    const {
        let tile = SIDE > 0 && HEIGHT.is_multiple_of(SIDE) && WIDTH.is_multiple_of(SIDE);
        if !tile || FEATURES != SIDE * SIDE || PATCHES != HEIGHT / SIDE * (WIDTH / SIDE) {
            Message::new()
                .number(PATCHES)
                .text(" patches of ")
                .number(FEATURES)
                .text(" features cannot be those of ")
                .number(SIDE)
                .text(" x ")
                .number(SIDE)
                .text(" pixels of an image of ")
                .number(HEIGHT)
                .text(" x ")
                .number(WIDTH)
                .panic();
        }
    }
    let mut patches = [[0.0; FEATURES]; PATCHES];
    for (y, row) in image.iter().enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            patches[y / SIDE * (WIDTH / SIDE) + x / SIDE][y % SIDE * SIDE + x % SIDE] = *pixel;
        }
    }
    patches
}

/// A model cannot work on what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// Nothing was given.
    Empty(Empty),
    /// There is no room for so much.
    TooLong(TooLong),
    /// A token id is not one of the vocabulary.
    UnknownToken(UnknownToken),
}

/// A token id is not one of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownToken {
    /// The token id.
    pub id: u32,
    /// Number of tokens in the vocabulary; ids are below it.
    pub vocabulary: usize,
}

impl fmt::Display for UnknownToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token id {} in a vocabulary of {}", self.id, self.vocabulary)
    }
}

impl Error for UnknownToken {}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(e) => e.fmt(f),
            Self::TooLong(e) => e.fmt(f),
            Self::UnknownToken(e) => e.fmt(f),
        }
    }
}

impl Error for InputError {}

impl From<Empty> for InputError {
    fn from(e: Empty) -> Self {
        Self::Empty(e)
    }
}

impl From<TooLong> for InputError {
    fn from(e: TooLong) -> Self {
        Self::TooLong(e)
    }
}

impl From<UnknownToken> for InputError {
    fn from(e: UnknownToken) -> Self {
        Self::UnknownToken(e)
    }
}
