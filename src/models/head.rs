//! From a token to a score for each token that may follow it.

use super::BertEmbedding;
use crate::{
    bias::Bias,
    embedding::{TextEmbedding, TokenEmbedding, TrainableEmbedding},
    format::{Format, TrainableFormat},
    kernel::{self, Add, OuterProducts, PANEL, Product, TransposedProduct},
    linear::Linear,
    machine::{Machine, Work, dispatch},
    norm::Exponent,
    parameters,
    parameters::{Parameters, Table},
    plain::Zero,
    shape::{KnownWidth, Width},
};
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

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

/// A [`Head`] that can be trained.
#[diagnostic::on_unimplemented(
    message = "the head `{Self}` has no gradient, so what it is a part of cannot be trained",
    label = "its weights must be `f32`"
)]
pub trait TrainableHead<E: TrainableEmbedding<D_MODEL>, const D_MODEL: usize, const VOCABULARY: usize>:
    Head<E, D_MODEL, VOCABULARY>
{
    /// The gradient: for weights of `f32`, a value of the same type.
    type Gradient: Head<E::Gradient, D_MODEL, VOCABULARY>;
    /// What lies between `TILE` tokens and their logits.
    type Between<const TILE: usize>: Zero + FromZeros;

    /// `logits` become those of the tokens `x`, of which there are at most `TILE`.
    #[doc(hidden)]
    fn forward<const TILE: usize>(
        &self,
        embedding: &E,
        x: &[[f32; D_MODEL]],
        between: &mut Self::Between<TILE>,
        logits: &mut [[f32; VOCABULARY]],
    );

    /// To `dx` is added the gradient of the tokens `x`, given that of their logits; to the gradients of the head and of the embedding, those
    /// of their parameters. It comes after [`forward`](Self::forward), and `dx` is 0.
    #[doc(hidden)]
    fn backward<const TILE: usize>(
        &self,
        embedding: &E,
        x: &[[f32; D_MODEL]],
        between: &mut Self::Between<TILE>,
        d_logits: &[[f32; VOCABULARY]],
        dx: &mut [[f32; D_MODEL]],
        gradients: (&mut Self::Gradient, &mut E::Gradient),
    );
}

/// An embedding with a vector for each of `VOCABULARY` tokens.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no table of {VOCABULARY} tokens of width {D_MODEL} for a tied head",
    label = "an embedding of {VOCABULARY} tokens is wanted here"
)]
pub trait TokenTable<const VOCABULARY: usize, const D_MODEL: usize> {
    /// The vectors.
    fn table(&self) -> &Table<VOCABULARY, D_MODEL>;

    /// The vectors, to be changed.
    fn table_mut(&mut self) -> &mut Table<VOCABULARY, D_MODEL>;
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

impl<E, const D_MODEL: usize, const VOCABULARY: usize> TrainableHead<E, D_MODEL, VOCABULARY> for Tied
where
    E: TrainableEmbedding<D_MODEL, Gradient: TokenTable<VOCABULARY, D_MODEL>> + TokenTable<VOCABULARY, D_MODEL>,
{
    type Gradient = Self;
    type Between<const TILE: usize> = [f32; 0];

    fn forward<const TILE: usize>(
        &self,
        embedding: &E,
        x: &[[f32; D_MODEL]],
        _: &mut [f32; 0],
        logits: &mut [[f32; VOCABULARY]],
    ) {
        dispatch(Forward { table: &embedding.table().rows, x, logits });
    }

    fn backward<const TILE: usize>(
        &self,
        embedding: &E,
        x: &[[f32; D_MODEL]],
        _: &mut [f32; 0],
        d_logits: &[[f32; VOCABULARY]],
        dx: &mut [[f32; D_MODEL]],
        (_, gradient): (&mut Self, &mut E::Gradient),
    ) {
        let (table, d_table) = (&embedding.table().rows, &mut gradient.table_mut().rows);
        dispatch(Backward { table, x, d_logits, dx, d_table });
    }
}

/// [`Logits`] of many tokens.
struct Forward<'a, const D_MODEL: usize, const VOCABULARY: usize> {
    table: &'a [[f32; D_MODEL]; VOCABULARY],
    x: &'a [[f32; D_MODEL]],
    logits: &'a mut [[f32; VOCABULARY]],
}

impl<const D_MODEL: usize, const VOCABULARY: usize> Work for Forward<'_, D_MODEL, VOCABULARY> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { table, x, logits } = self;
        logits.fill([0.0; VOCABULARY]);
        let (w, inputs) = (table.as_flattened(), 0..D_MODEL);
        TransposedProduct { x, inputs, w, stride: D_MODEL, panel: PANEL, rows: VOCABULARY }.run(m, &mut Add(logits));
    }
}

/// ∂x = ∂x + Σᵢ ∂yᵢ wᵢ, ∂wᵢ = ∂wᵢ + Σ ∂yᵢ x
struct Backward<'a, const D_MODEL: usize, const VOCABULARY: usize> {
    table: &'a [[f32; D_MODEL]; VOCABULARY],
    x: &'a [[f32; D_MODEL]],
    d_logits: &'a [[f32; VOCABULARY]],
    dx: &'a mut [[f32; D_MODEL]],
    d_table: &'a mut [[f32; D_MODEL]; VOCABULARY],
}

impl<const D_MODEL: usize, const VOCABULARY: usize> Work for Backward<'_, D_MODEL, VOCABULARY> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { table, x, d_logits, dx, d_table } = self;
        Product::<_, D_MODEL> {
            x: d_logits,
            inputs: 0..VOCABULARY,
            w: table.as_flattened(),
            stride: D_MODEL.max(1),
            from: 0,
            columns: D_MODEL,
            first: 0,
            next: &[],
        }
        .run(m, &mut Add(dx));
        let products = OuterProducts { x: d_logits, inputs: 0..VOCABULARY, y: x, from: 0, columns: D_MODEL };
        products.add_to(m, d_table.as_flattened_mut(), D_MODEL);
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

impl<E, const D_MODEL: usize, const VOCABULARY: usize, T: TrainableFormat, B: Bias>
    TrainableHead<E, D_MODEL, VOCABULARY> for Linear<D_MODEL, VOCABULARY, T, B>
where
    E: TrainableEmbedding<D_MODEL>,
    Width<D_MODEL>: KnownWidth,
{
    type Gradient = Linear<D_MODEL, VOCABULARY, T::Gradient, B>;
    type Between<const TILE: usize> = [f32; 0];

    fn forward<const TILE: usize>(
        &self,
        _: &E,
        x: &[[f32; D_MODEL]],
        _: &mut [f32; 0],
        logits: &mut [[f32; VOCABULARY]],
    ) {
        self.export(x, logits);
    }

    fn backward<const TILE: usize>(
        &self,
        _: &E,
        x: &[[f32; D_MODEL]],
        _: &mut [f32; 0],
        d_logits: &[[f32; VOCABULARY]],
        dx: &mut [[f32; D_MODEL]],
        (gradient, _): (&mut Self::Gradient, &mut E::Gradient),
    ) {
        Linear::backward(self, x, d_logits, dx, gradient);
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize> TokenTable<VOCABULARY, D_MODEL>
    for TokenEmbedding<VOCABULARY, D_MODEL>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.weight
    }

    fn table_mut(&mut self) -> &mut Table<VOCABULARY, D_MODEL> {
        &mut self.weight
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize> TokenTable<VOCABULARY, D_MODEL>
    for TextEmbedding<VOCABULARY, D_MODEL, POSITIONS>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.tokens.weight
    }

    fn table_mut(&mut self) -> &mut Table<VOCABULARY, D_MODEL> {
        &mut self.tokens.weight
    }
}

impl<const VOCABULARY: usize, const D_MODEL: usize, const POSITIONS: usize, const TYPES: usize, E: Exponent>
    TokenTable<VOCABULARY, D_MODEL> for BertEmbedding<VOCABULARY, D_MODEL, POSITIONS, TYPES, E>
{
    fn table(&self) -> &Table<VOCABULARY, D_MODEL> {
        &self.tokens.weight
    }

    fn table_mut(&mut self) -> &mut Table<VOCABULARY, D_MODEL> {
        &mut self.tokens.weight
    }
}
