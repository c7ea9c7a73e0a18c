//! Blocks in training.

use super::{
    Dropout, TrainableLayer,
    residual::{ResidualScratch, copy},
};
use crate::{
    activation::Identity,
    attention::{AttentionGradientScratch, TrainableProjections},
    block::EncoderBlock,
    decoder::DecoderBlock,
    family::Family,
    feed_forward::TrainablePositionWise,
    format::TrainableFormat,
    kernel::Store,
    mask::Causal,
    norm::TrainableNorm,
    plain::Zero,
    residual::Placement,
    sequence::Sequence,
    shape::{KnownWidth, SharedBy, SplitInto, Width},
    tile::rows,
};
use core::marker::PhantomData;
use zerocopy::FromZeros;

/// What a block saves on the way forward: the residual stream before and after attention, and, of Post-LN, what its last norm is given.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct SavedBlock<P: Placement, const D_MODEL: usize, const SEQ_LEN: usize> {
    input: [[f32; D_MODEL]; SEQ_LEN],
    /// x + attention(before(x)), before the norm that may come next.
    attended: [[f32; D_MODEL]; SEQ_LEN],
    fed: P::Sums<D_MODEL, SEQ_LEN>,
}

impl<P: Placement, const D_MODEL: usize, const SEQ_LEN: usize> Zero for SavedBlock<P, D_MODEL, SEQ_LEN> {
    const ZERO: Self = Self { input: Zero::ZERO, attended: Zero::ZERO, fed: Zero::ZERO };
}

/// Working memory of a block in training; `W` is that of its feed-forward layer.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct BlockGradientScratch<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize, W> {
    residual: ResidualScratch<D_MODEL, SEQ_LEN>,
    attention: AttentionGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV>,
    feed_forward: W,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize, W: Zero> Zero
    for BlockGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV, W>
{
    const ZERO: Self = Self { residual: Zero::ZERO, attention: Zero::ZERO, feed_forward: Zero::ZERO };
}

/// Where in a block something is dropped.
#[derive(Clone, Copy)]
pub(super) enum Site {
    AttentionWeights,
    AttentionOutput,
    CrossAttentionWeights,
    CrossAttentionOutput,
    Hidden,
    FeedForwardOutput,
}

impl Dropout {
    pub(super) const fn at(self, site: Site) -> Self {
        self.part(site as u64)
    }
}

/// The sub-layers of a block, where they lie, or their gradients.
struct Parts<'a, P, A, N, W> {
    attention: &'a A,
    attention_norm: &'a N,
    feed_forward: &'a W,
    feed_forward_norm: &'a N,
    placement: PhantomData<P>,
}

struct PartsMut<'a, A, N, W> {
    attention: &'a mut A,
    attention_norm: &'a mut N,
    feed_forward: &'a mut W,
    feed_forward_norm: &'a mut N,
}

impl<P: Placement, A, N, W> Parts<'_, P, A, N, W> {
    fn forward<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize>(
        &self,
        x: &mut [[f32; D_MODEL]],
        saved: &mut SavedBlock<P, D_MODEL, SEQ_LEN>,
        scratch: &mut BlockGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV, W::GradientScratch<TILE>>,
        dropout: Dropout,
    ) where
        A: TrainableProjections<D_MODEL, D_KV>,
        N: TrainableNorm<D_MODEL>,
        W: TrainablePositionWise<D_MODEL, D_FF>,
    {
        let BlockGradientScratch { residual, attention, feed_forward } = scratch;
        copy(x, &mut saved.input);
        let after_attention = dropout.at(Site::AttentionOutput);
        residual.forward::<P>(self.attention_norm, x, &mut saved.attended, after_attention, |normed, out| {
            attention.forward(self.attention, normed, normed, out, dropout.at(Site::AttentionWeights));
        });
        if P::NORM_FIRST {
            copy(x, &mut saved.attended);
        }
        let after_feed_forward = dropout.at(Site::FeedForwardOutput);
        residual.forward::<P>(self.feed_forward_norm, x, saved.fed.as_mut(), after_feed_forward, |normed, out| {
            feed_forward_forward(self.feed_forward, normed, out, feed_forward, dropout.at(Site::Hidden));
        });
    }

    fn backward<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize, const D_KV: usize>(
        &self,
        dy: &mut [[f32; D_MODEL]],
        saved: &SavedBlock<P, D_MODEL, SEQ_LEN>,
        scratch: &mut BlockGradientScratch<D_MODEL, SEQ_LEN, TILE, D_KV, W::GradientScratch<TILE>>,
        dropout: Dropout,
        gradient: PartsMut<'_, A::Gradient, N, W::Gradient>,
    ) where
        A: TrainableProjections<D_MODEL, D_KV>,
        N: TrainableNorm<D_MODEL>,
        W: TrainablePositionWise<D_MODEL, D_FF>,
    {
        let BlockGradientScratch { residual, attention, feed_forward } = scratch;
        let PartsMut {
            attention: d_attention,
            attention_norm: d_attention_norm,
            feed_forward: d_feed_forward,
            feed_forward_norm: d_feed_forward_norm,
        } = gradient;
        let input = saved.input.get(..dy.len()).unwrap_or_default();
        let attended = saved.attended.get(..dy.len()).unwrap_or_default();
        let fed = saved.fed.as_ref().get(..dy.len()).unwrap_or_default();

        // What feed-forward was given has gone through a norm in both placements: its own, or that after attention.
        residual.give(attended, Some(if P::NORM_FIRST { self.feed_forward_norm } else { self.attention_norm }));
        residual.backward::<P, _>(
            self.feed_forward_norm,
            if P::NORM_FIRST { attended } else { fed },
            dy,
            dropout.at(Site::FeedForwardOutput),
            d_feed_forward_norm,
            |normed, dy, dx| {
                let dropout = dropout.at(Site::Hidden);
                feed_forward_backward(self.feed_forward, [normed, dy], dx, feed_forward, dropout, d_feed_forward);
            },
        );

        residual.give(input, P::NORM_FIRST.then_some(self.attention_norm));
        residual.backward::<P, _>(
            self.attention_norm,
            if P::NORM_FIRST { input } else { attended },
            dy,
            dropout.at(Site::AttentionOutput),
            d_attention_norm,
            |normed, dy, dx| {
                let dropout = dropout.at(Site::AttentionWeights);
                attention.backward(self.attention, [normed, dy], dx, (normed, None), dropout, d_attention);
            },
        );
    }
}

/// `out` becomes the image of the tokens `x`, tile by tile.
pub(super) fn feed_forward_forward<W, const D_MODEL: usize, const D_FF: usize, const TILE: usize>(
    layer: &W,
    x: &[[f32; D_MODEL]],
    out: &mut [[f32; D_MODEL]],
    scratch: &mut W::GradientScratch<TILE>,
    dropout: Dropout,
) where
    W: TrainablePositionWise<D_MODEL, D_FF>,
{
    let rows = rows::<TILE>(x.len());
    for (i, (x, out)) in x.chunks(rows).zip(out.chunks_mut(rows)).enumerate() {
        let hidden = W::hidden::<TILE>(scratch).get_mut(..x.len()).unwrap_or_default();
        layer.widen(x, hidden);
        dropout.apply(hidden, i * rows);
        layer.narrow(hidden, Store::<D_MODEL, Identity>::to(out));
    }
}

/// To `dx` is added the gradient of the tokens `x`, given that of their image, tile by tile.
pub(super) fn feed_forward_backward<W, const D_MODEL: usize, const D_FF: usize, const TILE: usize>(
    layer: &W,
    [x, dy]: [&[[f32; D_MODEL]]; 2],
    dx: &mut [[f32; D_MODEL]],
    scratch: &mut W::GradientScratch<TILE>,
    dropout: Dropout,
    gradient: &mut W::Gradient,
) where
    W: TrainablePositionWise<D_MODEL, D_FF>,
{
    let rows = rows::<TILE>(x.len());
    for (i, ((x, dy), dx)) in x.chunks(rows).zip(dy.chunks(rows)).zip(dx.chunks_mut(rows)).enumerate() {
        layer.backward::<TILE>(x, dy, dx, scratch, (dropout, i * rows), gradient);
    }
}

/// The gradient of a feed-forward layer of the family `F`.
type FeedForwardOf<F, const D_MODEL: usize, const D_FF: usize, T> = <F as Family>::FeedForward<D_MODEL, D_FF, T>;

macro_rules! blocks {
    ($([$($generics:tt)*] $block:ident<$($parameter:ident),*>, $gradient:ty, $d_kv:ident where { $($bounds:tt)* })*) => { $(
        impl<$($generics)*> TrainableLayer<D_MODEL> for $block<$($parameter),*>
        where
            F::Norm<D_MODEL>: TrainableNorm<D_MODEL>,
            FeedForwardOf<F, D_MODEL, D_FF, T>:
                TrainablePositionWise<D_MODEL, D_FF, Gradient = FeedForwardOf<F, D_MODEL, D_FF, T::Gradient>>,
            $($bounds)*
        {
            type Gradient = $gradient;
            type Saved<const SEQ_LEN: usize> = SavedBlock<F::Placement, D_MODEL, SEQ_LEN>;
            type GradientScratch<const SEQ_LEN: usize, const TILE: usize> = BlockGradientScratch<
                D_MODEL,
                SEQ_LEN,
                TILE,
                $d_kv,
                <FeedForwardOf<F, D_MODEL, D_FF, T> as TrainablePositionWise<D_MODEL, D_FF>>::GradientScratch<TILE>,
            >;

            fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                x: &mut Sequence<D_MODEL, SEQ_LEN>,
                saved: &mut Self::Saved<SEQ_LEN>,
                scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
                dropout: Dropout,
            ) {
                let Self { attention, attention_norm, feed_forward, feed_forward_norm } = self;
                let placement = PhantomData;
                Parts { attention, attention_norm, feed_forward, feed_forward_norm, placement }
                    .forward::<D_MODEL, D_FF, SEQ_LEN, TILE, $d_kv>(x.tokens_mut(), saved, scratch, dropout);
            }

            fn backward<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                dy: &mut Sequence<D_MODEL, SEQ_LEN>,
                saved: &Self::Saved<SEQ_LEN>,
                scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
                dropout: Dropout,
                gradient: &mut Self::Gradient,
            ) {
                let Self { attention, attention_norm, feed_forward, feed_forward_norm } = self;
                let placement = PhantomData;
                let parts = Parts { attention, attention_norm, feed_forward, feed_forward_norm, placement };
                let $block { attention, attention_norm, feed_forward, feed_forward_norm } = gradient;
                let gradient = PartsMut { attention, attention_norm, feed_forward, feed_forward_norm };
                parts.backward::<D_MODEL, D_FF, SEQ_LEN, TILE, $d_kv>(
                    dy.tokens_mut(),
                    saved,
                    scratch,
                    dropout,
                    gradient,
                );
            }
        }
    )* };
}

blocks! {
    [F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: TrainableFormat]
    EncoderBlock<F, D_MODEL, D_FF, HEADS, T>, EncoderBlock<F, D_MODEL, D_FF, HEADS, T::Gradient>, D_MODEL
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }

    [
        F: Family<Mask = Causal>, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: TrainableFormat,
        const KV_HEADS: usize, const D_KV: usize
    ]
    DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>,
    DecoderBlock<F, D_MODEL, D_FF, HEADS, T::Gradient, KV_HEADS, D_KV>, D_KV
    where { Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>, Width<D_FF>: KnownWidth }
}
