//! Decoders that attend to an encoder, in training.

use super::{
    Dropout, TrainableNorm, TrainablePositionWise,
    block::{Site, feed_forward_backward, feed_forward_forward},
    residual::{ResidualScratch, copy},
    stack::SavedStack,
};
use crate::{
    attention::AttentionGradientScratch,
    cross::{CrossBlock, CrossDecoder},
    family::Family,
    format::TrainableFormat,
    norm::Norm,
    plain::Zero,
    residual::Placement,
    sequence::Sequence,
    shape::{KnownWidth, SplitInto, Width},
};
use zerocopy::FromZeros;

/// What a block saves on the way forward: the residual stream before and after each attention, and, of Post-LN, what its last norm is given.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct SavedCrossBlock<P: Placement, const D_MODEL: usize, const TARGET_LEN: usize> {
    input: [[f32; D_MODEL]; TARGET_LEN],
    attended: [[f32; D_MODEL]; TARGET_LEN],
    crossed: [[f32; D_MODEL]; TARGET_LEN],
    fed: P::Sums<D_MODEL, TARGET_LEN>,
}

impl<P: Placement, const D_MODEL: usize, const TARGET_LEN: usize> Zero for SavedCrossBlock<P, D_MODEL, TARGET_LEN> {
    const ZERO: Self = Self { input: Zero::ZERO, attended: Zero::ZERO, crossed: Zero::ZERO, fed: Zero::ZERO };
}

/// Working memory of a decoder that attends to an encoder, in training; `W` is that of its feed-forward layer.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct CrossGradientScratch<
    const D_MODEL: usize,
    const TARGET_LEN: usize,
    const SOURCE_LEN: usize,
    const TILE: usize,
    W,
> {
    residual: ResidualScratch<D_MODEL, TARGET_LEN>,
    target: AttentionGradientScratch<D_MODEL, TARGET_LEN, TILE>,
    source: AttentionGradientScratch<D_MODEL, SOURCE_LEN, TILE>,
    feed_forward: W,
}

impl<const D_MODEL: usize, const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize, W: Zero> Zero
    for CrossGradientScratch<D_MODEL, TARGET_LEN, SOURCE_LEN, TILE, W>
{
    const ZERO: Self = Self { residual: Zero::ZERO, target: Zero::ZERO, source: Zero::ZERO, feed_forward: Zero::ZERO };
}

/// The working memory of a feed-forward layer of the family `F`.
pub(super) type Hidden<F, const D_MODEL: usize, const D_FF: usize, const TILE: usize, T> =
    <<F as Family>::FeedForward<D_MODEL, D_FF, T> as TrainablePositionWise<D_MODEL, D_FF>>::GradientScratch<TILE>;

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: TrainableFormat>
    CrossBlock<F, D_MODEL, D_FF, HEADS, T>
where
    F::Norm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FeedForward<D_MODEL, D_FF, T>:
        TrainablePositionWise<D_MODEL, D_FF, Gradient = F::FeedForward<D_MODEL, D_FF, T::Gradient>>,
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    fn forward_saved<const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize>(
        &self,
        x: &mut [[f32; D_MODEL]],
        source: &[[f32; D_MODEL]],
        saved: &mut SavedCrossBlock<F::Placement, D_MODEL, TARGET_LEN>,
        scratch: &mut CrossGradientScratch<D_MODEL, TARGET_LEN, SOURCE_LEN, TILE, Hidden<F, D_MODEL, D_FF, TILE, T>>,
        dropout: Dropout,
    ) {
        let norm_first = <F::Placement as Placement>::NORM_FIRST;
        let CrossGradientScratch { residual, target: own, source: other, feed_forward } = scratch;
        let SavedCrossBlock { input, attended, crossed, fed } = saved;
        copy(x, input);
        let (norm, after) = (&self.self_attention_norm, dropout.at(Site::AttentionOutput));
        residual.forward::<F::Placement>(norm, x, attended, after, |normed, out| {
            own.forward(&self.self_attention, normed, normed, out, dropout.at(Site::AttentionWeights));
        });
        if norm_first {
            copy(x, attended);
        }
        let (norm, after) = (&self.cross_attention_norm, dropout.at(Site::CrossAttentionOutput));
        residual.forward::<F::Placement>(norm, x, crossed, after, |normed, out| {
            other.forward(&self.cross_attention, normed, source, out, dropout.at(Site::CrossAttentionWeights));
        });
        if norm_first {
            copy(x, crossed);
        }
        let (norm, after) = (&self.feed_forward_norm, dropout.at(Site::FeedForwardOutput));
        residual.forward::<F::Placement>(norm, x, fed.as_mut(), after, |normed, out| {
            feed_forward_forward(&self.feed_forward, normed, out, feed_forward, dropout.at(Site::Hidden));
        });
    }

    fn backward<const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize>(
        &self,
        dy: &mut [[f32; D_MODEL]],
        (source, d_source): (&[[f32; D_MODEL]], &mut [[f32; D_MODEL]]),
        saved: &SavedCrossBlock<F::Placement, D_MODEL, TARGET_LEN>,
        scratch: &mut CrossGradientScratch<D_MODEL, TARGET_LEN, SOURCE_LEN, TILE, Hidden<F, D_MODEL, D_FF, TILE, T>>,
        dropout: Dropout,
        gradient: &mut CrossBlock<F, D_MODEL, D_FF, HEADS, T::Gradient>,
    ) {
        let norm_first = <F::Placement as Placement>::NORM_FIRST;
        let CrossGradientScratch { residual, target: own, source: other, feed_forward } = scratch;
        let len = dy.len();
        let [input, attended, crossed, fed] = [&saved.input[..], &saved.attended, &saved.crossed, saved.fed.as_ref()]
            .map(|rows| rows.get(..len).unwrap_or_default());

        // What a sub-layer was given has gone through a norm in both placements: its own, or that of the one before.
        residual.give(crossed, Some(if norm_first { &self.feed_forward_norm } else { &self.cross_attention_norm }));
        let (norm, after) = (&self.feed_forward_norm, dropout.at(Site::FeedForwardOutput));
        let (seen, of_norm) = (if norm_first { crossed } else { fed }, &mut gradient.feed_forward_norm);
        residual.backward::<F::Placement, _>(norm, seen, dy, after, of_norm, |normed, dy, dx| {
            let (dropout, gradient) = (dropout.at(Site::Hidden), &mut gradient.feed_forward);
            feed_forward_backward(&self.feed_forward, [normed, dy], dx, feed_forward, dropout, gradient);
        });

        residual.give(attended, Some(if norm_first { &self.cross_attention_norm } else { &self.self_attention_norm }));
        let (norm, after) = (&self.cross_attention_norm, dropout.at(Site::CrossAttentionOutput));
        let (seen, of_norm) = (if norm_first { attended } else { crossed }, &mut gradient.cross_attention_norm);
        residual.backward::<F::Placement, _>(norm, seen, dy, after, of_norm, |normed, dy, dx| {
            let (dropout, gradient) = (dropout.at(Site::CrossAttentionWeights), &mut gradient.cross_attention);
            other.backward(&self.cross_attention, [normed, dy], dx, (source, Some(d_source)), dropout, gradient);
        });

        residual.give(input, norm_first.then_some(&self.self_attention_norm));
        let (norm, after) = (&self.self_attention_norm, dropout.at(Site::AttentionOutput));
        let (seen, of_norm) = (if norm_first { input } else { attended }, &mut gradient.self_attention_norm);
        residual.backward::<F::Placement, _>(norm, seen, dy, after, of_norm, |normed, dy, dx| {
            let (dropout, gradient) = (dropout.at(Site::AttentionWeights), &mut gradient.self_attention);
            own.backward(&self.self_attention, [normed, dy], dx, (normed, None), dropout, gradient);
        });
    }
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: TrainableFormat>
    CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    F::Norm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FinalNorm<D_MODEL>: TrainableNorm<D_MODEL>,
    F::FeedForward<D_MODEL, D_FF, T>:
        TrainablePositionWise<D_MODEL, D_FF, Gradient = F::FeedForward<D_MODEL, D_FF, T::Gradient>>,
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// The tokens `x` of a target, from the first on, become the output; `encoded` is the output of an encoder. As
    /// [`TrainableLayer::forward_saved`](super::TrainableLayer::forward_saved).
    pub fn forward_saved<const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, TARGET_LEN>,
        encoded: &Sequence<D_MODEL, SOURCE_LEN>,
        saved: &mut SavedStack<D_MODEL, TARGET_LEN, [SavedCrossBlock<F::Placement, D_MODEL, TARGET_LEN>; LAYERS]>,
        scratch: &mut CrossGradientScratch<D_MODEL, TARGET_LEN, SOURCE_LEN, TILE, Hidden<F, D_MODEL, D_FF, TILE, T>>,
        dropout: Dropout,
    ) {
        for (i, (block, saved)) in self.blocks.iter().zip(&mut saved.blocks).enumerate() {
            block.forward_saved(x.tokens_mut(), encoded.tokens(), saved, scratch, dropout.part(i as u64));
        }
        copy(x.tokens(), &mut saved.last);
        self.norm.forward(x.tokens_mut());
    }

    /// `dy`, the gradients of the output, become those of the target's tokens; those of `encoded` are added to `d_encoded`, of as many
    /// tokens. As [`TrainableLayer::backward`](super::TrainableLayer::backward).
    pub fn backward<const TARGET_LEN: usize, const SOURCE_LEN: usize, const TILE: usize>(
        &self,
        dy: &mut Sequence<D_MODEL, TARGET_LEN>,
        (encoded, d_encoded): (&Sequence<D_MODEL, SOURCE_LEN>, &mut Sequence<D_MODEL, SOURCE_LEN>),
        saved: &SavedStack<D_MODEL, TARGET_LEN, [SavedCrossBlock<F::Placement, D_MODEL, TARGET_LEN>; LAYERS]>,
        scratch: &mut CrossGradientScratch<D_MODEL, TARGET_LEN, SOURCE_LEN, TILE, Hidden<F, D_MODEL, D_FF, TILE, T>>,
        dropout: Dropout,
        gradient: &mut CrossDecoder<F, LAYERS, D_MODEL, D_FF, HEADS, T::Gradient>,
    ) {
        let last = saved.last.get(..dy.len()).unwrap_or_default();
        self.norm.backward(last, dy.tokens_mut(), &mut gradient.norm);
        let layers = self.blocks.iter().zip(&saved.blocks).zip(&mut gradient.blocks).enumerate();
        for (i, ((block, saved), gradient)) in layers.rev() {
            let source = (encoded.tokens(), d_encoded.tokens_mut());
            block.backward(dy.tokens_mut(), source, saved, scratch, dropout.part(i as u64), gradient);
        }
    }
}
