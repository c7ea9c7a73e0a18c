//! The transformer in training.

use super::{
    CrossEntropy, Dropout, HeadGradientScratch, Loss, Pass, TrainableEmbedding, TrainableFormat, TrainableLayer,
    TrainableModel, TrainableNorm, TrainablePositionWise, TrainingError, WrongTargets,
    cross::{CrossGradientScratch, Hidden, SavedCrossBlock},
    stack::SavedStack,
};
use crate::{
    embedding::Embedding,
    encoder::Encoder,
    family::Family,
    mask::Bidirectional,
    models::{Tied, Transformer},
    plain::Zero,
    sequence::Sequence,
    shape::{KnownWidth, SplitInto, Width},
};
use zerocopy::FromZeros;

/// What a transformer needs in training: for its encoder, which saves `E` and works in `W`, and for its decoder, `D` and `C`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct TransformerGradientWorking<
    const D_MODEL: usize,
    const VOCABULARY: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    E,
    W,
    D,
    C,
> {
    encoding: W,
    decoding: C,
    encoder: E,
    decoder: D,
    head: HeadGradientScratch<D_MODEL, VOCABULARY, TILE, [f32; 0]>,
    source: Sequence<D_MODEL, SEQ_LEN>,
    d_source: Sequence<D_MODEL, SEQ_LEN>,
    target: Sequence<D_MODEL, SEQ_LEN>,
}

impl<
    const D_MODEL: usize,
    const VOCABULARY: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    E: Zero,
    W: Zero,
    D: Zero,
    C: Zero,
> Zero for TransformerGradientWorking<D_MODEL, VOCABULARY, SEQ_LEN, TILE, E, W, D, C>
{
    const ZERO: Self = Self {
        encoding: Zero::ZERO,
        decoding: Zero::ZERO,
        encoder: Zero::ZERO,
        decoder: Zero::ZERO,
        head: Zero::ZERO,
        source: Zero::ZERO,
        d_source: Zero::ZERO,
        target: Zero::ZERO,
    };
}

/// Where something is dropped.
enum Site {
    Source,
    Target,
    Encoder,
    Decoder,
}

/// The inputs are the token ids of a source and of a target; the targets are a token id for each of the latter: the one after it.
impl<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: TrainableFormat,
> TrainableModel for Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T>
where
    F::Norm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FinalNorm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FeedForward<D_MODEL, D_FF, T>:
        TrainablePositionWise<D_MODEL, D_FF, Gradient = F::FeedForward<D_MODEL, D_FF, T::Gradient>>,
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Gradient = Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T::Gradient>;
    type Inputs<'a> = (&'a [u32], &'a [u32]);
    type Target<'a> = &'a [u32];
    type TrainingMemory<const SEQ_LEN: usize, const TILE: usize> = TransformerGradientWorking<
        D_MODEL,
        VOCABULARY,
        SEQ_LEN,
        TILE,
        <Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T> as TrainableLayer<D_MODEL>>::Saved<SEQ_LEN>,
        <Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T> as TrainableLayer<D_MODEL>>::GradientScratch<SEQ_LEN, TILE>,
        SavedStack<D_MODEL, SEQ_LEN, [SavedCrossBlock<F::Placement, D_MODEL, SEQ_LEN>; LAYERS]>,
        CrossGradientScratch<D_MODEL, SEQ_LEN, SEQ_LEN, TILE, Hidden<F, D_MODEL, D_FF, TILE, T>>,
    >;

    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        (sources, inputs): (&[u32], &[u32]),
        targets: &[u32],
        Pass { loss, weight, dropout }: Pass,
        gradient: &mut Self::Gradient,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError> {
        self.forward_saved((sources, inputs), targets, dropout, memory)?;
        let TransformerGradientWorking { encoding, decoding, encoder, decoder, head, source, d_source, target } =
            memory;
        let at = |site: Site| dropout.part(site as u64);
        let gradients = Some((&mut Tied, &mut gradient.embedding));
        let (x, objective) = (target.tokens_mut(), (loss, weight));
        let loss = head.loss(&Tied, &self.embedding, x, targets, objective, gradients)?;

        d_source.match_len(source);
        d_source.tokens_mut().fill([0.0; D_MODEL]);
        let (pair, dropped) = ((&*source, &mut *d_source), at(Site::Decoder));
        self.decoder.backward(target, pair, decoder, decoding, dropped, &mut gradient.decoder);
        at(Site::Target).apply(target.tokens_mut(), 0);
        self.embedding.backward(inputs, target.tokens_mut(), &mut gradient.embedding);

        self.encoder.backward(d_source, encoder, encoding, at(Site::Encoder), &mut gradient.encoder);
        at(Site::Source).apply(d_source.tokens_mut(), 0);
        self.embedding.backward(sources, d_source.tokens_mut(), &mut gradient.embedding);
        Ok(loss)
    }

    fn loss<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: (&[u32], &[u32]),
        targets: &[u32],
        loss: CrossEntropy,
        memory: &mut Self::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<Loss, TrainingError> {
        self.forward_saved(inputs, targets, Dropout::NONE, memory)?;
        let (head, x) = (&mut memory.head, memory.target.tokens_mut());
        Ok(head.loss(&Tied, &self.embedding, x, targets, (loss, 1.0), None)?)
    }
}

impl<
    F: Family<Mask = Bidirectional>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const VOCABULARY: usize,
    const POSITIONS: usize,
    T: TrainableFormat,
> Transformer<F, LAYERS, D_MODEL, D_FF, HEADS, VOCABULARY, POSITIONS, T>
where
    F::Norm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FinalNorm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FeedForward<D_MODEL, D_FF, T>:
        TrainablePositionWise<D_MODEL, D_FF, Gradient = F::FeedForward<D_MODEL, D_FF, T::Gradient>>,
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        (sources, inputs): (&[u32], &[u32]),
        targets: &[u32],
        dropout: Dropout,
        memory: &mut <Self as TrainableModel>::TrainingMemory<SEQ_LEN, TILE>,
    ) -> Result<(), TrainingError> {
        WrongTargets::check(inputs.len(), targets.len())?;
        CrossEntropy::check(targets, VOCABULARY)?;
        let TransformerGradientWorking { encoding, decoding, encoder, decoder, source, target, .. } = memory;
        let at = |site: Site| dropout.part(site as u64);
        self.embedding.forward(sources, source)?;
        self.embedding.forward(inputs, target)?;
        at(Site::Source).apply(source.tokens_mut(), 0);
        at(Site::Target).apply(target.tokens_mut(), 0);
        self.encoder.forward_saved(source, encoder, encoding, at(Site::Encoder));
        self.decoder.forward_saved(target, source, decoder, decoding, at(Site::Decoder));
        Ok(())
    }
}
