//! Which laws hold for a layer, as its type says it.

use super::{Law, residual, stack};
use crate::{
    Causal, Decoder, DecoderBlock, Encoder, EncoderBlock, Family, Format, KnownWidth, Layer, Parameters, SharedBy,
    SplitInto, Width, parameters::Numbers,
};
use core::any::{Any, TypeId};

/// A block of a [`Family`], or a stack of blocks: so it is known which laws hold for it, see [`check::block`](super::check::block)
///
/// For a block of your own it is one line. Its tensors are called as those of [`EncoderBlock`] are, `attention.output`,
/// `feed_forward.outer`, `attention_norm` and `feed_forward_norm`: laws of residual connections set them.
///
/// ```
/// use constformer::{laws::Member, *};
///
/// model! {
///     /// A block like another.
///     struct Mine {
///         block: EncoderBlock<Vit, 8, 12, 2>,
///     }
/// }
///
/// impl Model for Mine {
///     type Memory<const SEQ_LEN: usize, const TILE: usize> = Memory<EncoderBlock<Vit, 8, 12, 2>, SEQ_LEN, TILE>;
///     const MACS: Macs = EncoderBlock::<Vit, 8, 12, 2>::MACS;
/// }
///
/// impl Layer<8> for Mine {
///     type Stream = f32;
///     type Scratch<const SEQ_LEN: usize, const TILE: usize> = Scratch<8, 12, SEQ_LEN, TILE>;
///
///     fn forward<const SEQ_LEN: usize, const TILE: usize>(
///         &self,
///         x: &mut Sequence<8, SEQ_LEN>,
///         scratch: &mut Scratch<8, 12, SEQ_LEN, TILE>,
///     ) {
///         self.block.forward(x, scratch);
///     }
/// }
///
/// impl Member<8> for Mine {
///     type Family = Vit; // Pre-LN, bidirectional
/// }
///
/// laws::check::block::<Mine, 8, 5>();
/// ```
pub trait Member<const D_MODEL: usize>: Layer<D_MODEL> {
    /// What it is a block of: placement, norm, mask and rotation are what count.
    type Family: Family;

    /// How many blocks it is, one after the other; 0 if there is something else in it, such as a final norm.
    const BLOCKS: usize = 1;

    /// The law that [`composition`](Self::composition) is.
    const COMPOSITION: &'static str = "residual::composition";

    /// Whether it computes and remembers in `f32` all the way. Otherwise laws that hold but for rounding are not asked of it.
    fn is_exact(&self) -> bool {
        true
    }

    /// Whether it is its parts, one after the other, if they can be had one by one.
    fn composition<const SEQ_LEN: usize, const TILE: usize>(&self, tokens: &[[f32; D_MODEL]]) -> Law {
        let _ = tokens;
        Ok(())
    }
}

/// Whether what is of the format `T` computes in `f32`, by its types and its tensors.
fn is_exact<T: Format>(layer: &impl Parameters) -> bool {
    let types = [TypeId::of::<T::Number>(), TypeId::of::<T::KeyValues>(), TypeId::of::<T::Stream>()];
    let mut exact = types == [TypeId::of::<f32>(); 3];
    layer.for_each_tensor(|_, tensor| exact &= matches!(tensor.numbers(), Numbers::F32(_)));
    exact
}

impl<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Member<D_MODEL>
    for EncoderBlock<F, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Family = F;

    fn is_exact(&self) -> bool {
        is_exact::<T>(self)
    }

    fn composition<const SEQ_LEN: usize, const TILE: usize>(&self, tokens: &[[f32; D_MODEL]]) -> Law {
        match (self as &dyn Any).downcast_ref::<EncoderBlock<F, D_MODEL, D_FF, HEADS>>() {
            Some(block) => residual::composition::<F, D_MODEL, D_FF, HEADS, SEQ_LEN, TILE>(block, tokens),
            None => Ok(()),
        }
    }
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    Member<D_MODEL> for Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Family = F;

    const BLOCKS: usize = 0;

    const COMPOSITION: &'static str = "stack::encoder";

    fn is_exact(&self) -> bool {
        is_exact::<T>(self)
    }

    fn composition<const SEQ_LEN: usize, const TILE: usize>(&self, tokens: &[[f32; D_MODEL]]) -> Law {
        match (self as &dyn Any).downcast_ref::<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>>() {
            Some(encoder) => stack::encoder::<F, LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN, TILE>(encoder, tokens),
            None => Ok(()),
        }
    }
}

/// Implements [`Member`] for what a [`Decoder`] is made of.
macro_rules! decoders {
    ($([$($layers:tt)*] $type:ty, $blocks:literal;)*) => { $(
        impl<
            F: Family<Mask = Causal>, $($layers)* const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format,
            const KV_HEADS: usize, const D_KV: usize,
        > Member<D_MODEL> for $type
        where
            Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
            Width<D_FF>: KnownWidth,
        {
            type Family = F;

            const BLOCKS: usize = $blocks;

            fn is_exact(&self) -> bool {
                is_exact::<T>(self)
            }
        }
    )* };
}

decoders! {
    [] DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>, 1;
    [const LAYERS: usize,] Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>, 0;
}

impl<L: Member<D_MODEL>, const D_MODEL: usize, const N: usize> Member<D_MODEL> for [L; N] {
    type Family = L::Family;

    const BLOCKS: usize = N * L::BLOCKS;

    const COMPOSITION: &'static str = "stack::layers";

    fn is_exact(&self) -> bool {
        self.iter().all(L::is_exact)
    }

    fn composition<const SEQ_LEN: usize, const TILE: usize>(&self, tokens: &[[f32; D_MODEL]]) -> Law {
        stack::layers::<D_MODEL, SEQ_LEN, TILE, N>(self, tokens)
    }
}
