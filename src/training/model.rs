//! Whole models in training: from inputs and targets to a loss and a gradient.

use super::{CrossEntropy, Dropout, HeadGradientScratch, IGNORE, Loss, TrainableLayer, TrainingError, WrongTargets};
use crate::{
    activation::TrainableActivation,
    classifier::Classifier,
    cost::Model,
    embedding::{InputError, TrainableEmbedding},
    format::TrainableFormat,
    layer::Layer,
    models::{Head, LanguageModel, MaskedHead, MaskedLanguageModel, TokenTable, TrainableHead},
    norm::Exponent,
    parameters::Parameters,
    plain::Zero,
    pooling::TrainablePooling,
    sequence::Sequence,
    shape::{KnownWidth, Width},
};
use zerocopy::FromZeros;

/// How a model is trained on a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The loss of a target.
    pub loss: CrossEntropy,
    /// What the gradient of a target's loss is multiplied by: 1 / n for the mean over the n targets of a batch.
    pub weight: f32,
    /// What is dropped: [`Dropout::NONE`] by default.
    pub dropout: Dropout,
}

impl Pass {
    /// Without dropout and label smoothing.
    #[must_use]
    pub const fn new(weight: f32) -> Self {
        Self { loss: CrossEntropy::new(), weight, dropout: Dropout::NONE }
    }
}

/// A model that can be trained: [`LanguageModel`], [`MaskedLanguageModel`], [`Classifier`], [`Transformer`](crate::Transformer).
///
/// Gradients add up over sequences, and over batches, until they are [`clear`](super::clear)ed: that is gradient accumulation.
///
/// ```
/// use constformer::{training::*, *};
///
/// type Gpt = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4>, 16, 11>;
///
/// let mut model = boxed::<Gpt>();
/// let mut gradient = boxed::<Gradient<Gpt>>(); // for weights of `f32`, a `Gpt`
/// let mut moments = boxed::<Moments<Gradient<Gpt>>>();
/// let mut memory = boxed::<TrainingMemory<Gpt, 8>>();
///
/// for _ in 0..10 {
///     let mut loss = Loss::default();
///     for text in [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]] {
///         let pass = Pass::new(1.0 / 8.0); // 8 targets in the batch
///         loss += model.backward(&text[..4], &text[1..], pass, &mut gradient, &mut memory)?;
///     }
///     clip_norm(&mut *gradient, 1.0);
///     AdamW::default().step(&mut *model, &*gradient, &mut *moments, 1e-3);
///     clear(&mut *gradient);
///     assert!(loss.mean() < 2.4);
/// }
/// # Ok::<(), TrainingError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model that can be trained",
    label = "its weights must be `f32`, and its norms and activations must have gradients",
    note = "train a model of `f32`, the default, then `quantize` it"
)]
pub trait TrainableModel: Model {
    /// The gradient: for weights of `f32`, a value of the same type.
    type Gradient: Parameters;
    /// What it is given: token ids, patches.
    type Inputs<'a>;
    /// What is wanted of it: a token id for each input, or a class.
    type Target<'a>;
    /// Every byte that a pass needs besides parameters and gradient.
    type TrainingMemory<const SEQ_LEN: usize, const TILE: usize>: Zero + FromZeros;

    /// The loss of `inputs`; its gradient is added to `gradient`.
    ///
    /// # Errors
    ///
    /// [`TrainingError`] if the model cannot work on the inputs, or a target is not one; then `gradient` is what it was.
    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: Self::Inputs<'_>,
        target: Self::Target<'_>,
        pass: Pass,
        gradient: &mut Self::Gradient,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError>;

    /// The loss of `inputs`, without dropout.
    ///
    /// # Errors
    ///
    /// As [`backward`](Self::backward).
    fn loss<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: Self::Inputs<'_>,
        target: Self::Target<'_>,
        loss: CrossEntropy,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError>;
}

/// The gradient of the model `M`.
pub type Gradient<M> = <M as TrainableModel>::Gradient;

/// The memory of the model `M` for training on up to `SEQ_LEN` tokens, `TILE` of them at a time: a `static`, or `boxed` on a host.
pub type TrainingMemory<M, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }> =
    <M as TrainableModel>::TrainingMemory<SEQ_LEN, TILE>;

/// The residual stream, what the layers save, `S`, their working memory, `W`, and the head's, `H`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct TrainingWorking<const D_MODEL: usize, const SEQ_LEN: usize, S, W, H> {
    scratch: W,
    saved: S,
    head: H,
    stream: Sequence<D_MODEL, SEQ_LEN>,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, S: Zero, W: Zero, H: Zero> Zero
    for TrainingWorking<D_MODEL, SEQ_LEN, S, W, H>
{
    const ZERO: Self = Self { scratch: Zero::ZERO, saved: Zero::ZERO, head: Zero::ZERO, stream: Zero::ZERO };
}

/// Where in a model something is dropped.
enum Site {
    Embedding,
    Layers,
}

macro_rules! token_models {
    ($([$($generics:tt)*] $model:ident<$($parameter:ty),*>, $layers:ident, $head:ty where { $($bounds:tt)* })*) => { $(
        /// The targets are a token id for each input, or [`IGNORE`].
        impl<E, L, const D_MODEL: usize, const VOCABULARY: usize, $($generics)*> TrainableModel
            for $model<E, L, D_MODEL, VOCABULARY, $($parameter),*>
        where
            E: TrainableEmbedding<D_MODEL>,
            L: TrainableLayer<D_MODEL, Gradient: Layer<D_MODEL>>,
            $($bounds)*
        {
            type Gradient = $model<
                E::Gradient,
                L::Gradient,
                D_MODEL,
                VOCABULARY,
                $($parameter),*
            >;
            type Inputs<'a> = &'a [E::Input];
            type Target<'a> = &'a [u32];
            type TrainingMemory<const SEQ_LEN: usize, const TILE: usize> = TrainingWorking<
                D_MODEL,
                SEQ_LEN,
                L::Saved<SEQ_LEN>,
                L::GradientScratch<SEQ_LEN, TILE>,
                HeadGradientScratch<
                    D_MODEL,
                    VOCABULARY,
                    TILE,
                    <$head as TrainableHead<E, D_MODEL, VOCABULARY>>::Between<TILE>,
                >,
            >;

            fn backward<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                inputs: &[E::Input],
                targets: &[u32],
                Pass { loss, weight, dropout }: Pass,
                gradient: &mut Self::Gradient,
                memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
            ) -> Result<Loss, TrainingError> {
                WrongTargets::check(inputs.len(), targets.len())?;
                CrossEntropy::check(targets, VOCABULARY)?;
                let TrainingWorking { scratch, saved, head, stream } = memory;
                let (of_embedding, of_layers) = (dropout.part(Site::Embedding as u64), dropout.part(Site::Layers as u64));
                self.embedding.forward(inputs, stream)?;
                of_embedding.apply(stream.tokens_mut(), 0);
                self.$layers.forward_saved(stream, saved, scratch, of_layers);
                let gradients = Some((&mut gradient.head, &mut gradient.embedding));
                let (x, objective) = (stream.tokens_mut(), (loss, weight));
                let loss = head.loss(&self.head, &self.embedding, x, targets, objective, gradients)?;
                self.$layers.backward(stream, saved, scratch, of_layers, &mut gradient.$layers);
                of_embedding.apply(stream.tokens_mut(), 0);
                self.embedding.backward(inputs, stream.tokens_mut(), &mut gradient.embedding);
                Ok(loss)
            }

            fn loss<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                inputs: &[E::Input],
                targets: &[u32],
                loss: CrossEntropy,
                memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
            ) -> Result<Loss, TrainingError> {
                WrongTargets::check(inputs.len(), targets.len())?;
                CrossEntropy::check(targets, VOCABULARY)?;
                let TrainingWorking { scratch, saved, head, stream } = memory;
                self.embedding.forward(inputs, stream)?;
                self.$layers.forward_saved(stream, saved, scratch, Dropout::NONE);
                Ok(head.loss(&self.head, &self.embedding, stream.tokens_mut(), targets, (loss, 1.0), None)?)
            }
        }
    )* };
}

token_models! {
    [H] LanguageModel<H>, decoder, H
    where { H: TrainableHead<E, D_MODEL, VOCABULARY, Gradient = H> + Head<E::Gradient, D_MODEL, VOCABULARY> }

    [X: Exponent, A: TrainableActivation] MaskedLanguageModel<X, A>, encoder, MaskedHead<D_MODEL, VOCABULARY, X, A>
    where {
        E: TokenTable<VOCABULARY, D_MODEL>,
        E::Gradient: TokenTable<VOCABULARY, D_MODEL>,
        Width<D_MODEL>: KnownWidth
    }
}

/// The target is a class.
impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> TrainableModel for Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: TrainableEmbedding<D_MODEL>,
    L: TrainableLayer<D_MODEL, Gradient: Layer<D_MODEL>>,
    P: TrainablePooling,
    T: TrainableFormat,
    Width<D_MODEL>: KnownWidth,
{
    type Gradient = Classifier<E::Gradient, L::Gradient, D_MODEL, CLASSES, P, T::Gradient>;
    type Inputs<'a> = &'a [E::Input];
    type Target<'a> = u32;
    type TrainingMemory<const SEQ_LEN: usize, const TILE: usize> =
        TrainingWorking<D_MODEL, SEQ_LEN, L::Saved<SEQ_LEN>, L::GradientScratch<SEQ_LEN, TILE>, [f32; 0]>;

    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        target: u32,
        Pass { loss, weight, dropout }: Pass,
        gradient: &mut Self::Gradient,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError> {
        CrossEntropy::check(&[target], CLASSES)?;
        let TrainingWorking { scratch, saved, stream, .. } = memory;
        let (of_embedding, of_layers) = (dropout.part(Site::Embedding as u64), dropout.part(Site::Layers as u64));
        self.embedding.forward(inputs, stream)?;
        of_embedding.apply(stream.tokens_mut(), 0);
        self.encoder.forward_saved(stream, saved, scratch, of_layers);
        let pooled = [P::pool(stream).map_err(InputError::from)?];
        let mut logits = [[0.0; CLASSES]];
        self.head.export(&pooled, &mut logits);
        let sum = loss.backward(&mut logits[0], target, weight)?.into();
        let mut d_pooled = [[0.0; D_MODEL]];
        self.head.backward(&pooled, &logits, &mut d_pooled, &mut gradient.head);
        P::backward(&d_pooled[0], stream.tokens_mut());
        self.encoder.backward(stream, saved, scratch, of_layers, &mut gradient.encoder);
        of_embedding.apply(stream.tokens_mut(), 0);
        self.embedding.backward(inputs, stream.tokens_mut(), &mut gradient.embedding);
        Ok(Loss { sum, count: usize::from(target != IGNORE) })
    }

    fn loss<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        target: u32,
        loss: CrossEntropy,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError> {
        CrossEntropy::check(&[target], CLASSES)?;
        let TrainingWorking { scratch, saved, stream, .. } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward_saved(stream, saved, scratch, Dropout::NONE);
        let mut logits = self.head.apply(&P::pool(stream).map_err(InputError::from)?);
        let sum = loss.backward(&mut logits, target, 1.0)?.into();
        Ok(Loss { sum, count: usize::from(target != IGNORE) })
    }
}
