//! Stacks in training.

use super::{Dropout, TrainableLayer, TrainableNorm, residual::copy};
use crate::{
    block::EncoderBlock,
    decoder::{Decoder, DecoderBlock},
    encoder::Encoder,
    family::Family,
    format::TrainableFormat,
    mask::Causal,
    norm::Norm,
    plain::Zero,
    sequence::Sequence,
    shape::{KnownWidth, SharedBy, SplitInto, Width},
};
use zerocopy::FromZeros;

impl<L: TrainableLayer<D_MODEL>, const D_MODEL: usize, const N: usize> TrainableLayer<D_MODEL> for [L; N] {
    type Gradient = [L::Gradient; N];
    type Saved<const SEQ_LEN: usize> = [L::Saved<SEQ_LEN>; N];
    type GradientScratch<const SEQ_LEN: usize, const TILE: usize> = L::GradientScratch<SEQ_LEN, TILE>;

    fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &mut Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        dropout: Dropout,
    ) {
        for (i, (layer, saved)) in self.iter().zip(saved).enumerate() {
            layer.forward_saved(x, saved, scratch, dropout.part(i as u64));
        }
    }

    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        dy: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        dropout: Dropout,
        gradient: &mut Self::Gradient,
    ) {
        let layers = self.iter().zip(saved).zip(gradient).enumerate();
        for (i, ((layer, saved), gradient)) in layers.rev() {
            layer.backward(dy, saved, scratch, dropout.part(i as u64), gradient);
        }
    }
}

/// What a stack saves on the way forward: what its blocks do, `B`, and what the final norm is given.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct SavedStack<const D_MODEL: usize, const SEQ_LEN: usize, B> {
    pub(super) blocks: B,
    pub(super) last: [[f32; D_MODEL]; SEQ_LEN],
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, B: Zero> Zero for SavedStack<D_MODEL, SEQ_LEN, B> {
    const ZERO: Self = Self { blocks: Zero::ZERO, last: Zero::ZERO };
}

macro_rules! stacks {
    ($([$($generics:tt)*] $stack:ident<$($parameter:ident),*>, $gradient:ty, $block:ty, $block_gradient:ty where { $($bounds:tt)* })*) => { $(
        impl<$($generics)*> TrainableLayer<D_MODEL> for $stack<$($parameter),*>
        where
            $block: TrainableLayer<D_MODEL, Gradient = $block_gradient>,
            F::FinalNorm<D_MODEL>: TrainableNorm<D_MODEL>,
            $($bounds)*
        {
            type Gradient = $gradient;
            type Saved<const SEQ_LEN: usize> =
                SavedStack<D_MODEL, SEQ_LEN, [<$block as TrainableLayer<D_MODEL>>::Saved<SEQ_LEN>; LAYERS]>;
            type GradientScratch<const SEQ_LEN: usize, const TILE: usize> =
                <$block as TrainableLayer<D_MODEL>>::GradientScratch<SEQ_LEN, TILE>;

            fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                x: &mut Sequence<D_MODEL, SEQ_LEN>,
                saved: &mut Self::Saved<SEQ_LEN>,
                scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
                dropout: Dropout,
            ) {
                self.blocks.forward_saved(x, &mut saved.blocks, scratch, dropout);
                copy(x.tokens(), &mut saved.last);
                self.norm.forward(x.tokens_mut());
            }

            fn backward<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                dy: &mut Sequence<D_MODEL, SEQ_LEN>,
                saved: &Self::Saved<SEQ_LEN>,
                scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
                dropout: Dropout,
                gradient: &mut Self::Gradient,
            ) {
                let last = saved.last.get(..dy.len()).unwrap_or_default();
                self.norm.backward(last, dy.tokens_mut(), &mut gradient.norm);
                self.blocks.backward(dy, &saved.blocks, scratch, dropout, &mut gradient.blocks);
            }
        }
    )* };
}

stacks! {
    [F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: TrainableFormat]
    Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>, Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T::Gradient>,
    EncoderBlock<F, D_MODEL, D_FF, HEADS, T>, EncoderBlock<F, D_MODEL, D_FF, HEADS, T::Gradient>
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }

    [
        F: Family<Mask = Causal>, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize,
        T: TrainableFormat, const KV_HEADS: usize, const D_KV: usize
    ]
    Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>,
    Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T::Gradient, KV_HEADS, D_KV>,
    DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>,
    DecoderBlock<F, D_MODEL, D_FF, HEADS, T::Gradient, KV_HEADS, D_KV>
    where { Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>, Width<D_FF>: KnownWidth }
}
