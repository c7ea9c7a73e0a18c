//! A stack of encoder blocks.

use crate::{
    block::EncoderBlock,
    cost::{Macs, Model, Working},
    family::Family,
    format::Format,
    layer::Layer,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    sequence::Sequence,
    shape::{KnownWidth, SplitInto, Width},
    sub_layers::Scratch,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// `LAYERS` blocks one after the other, then the family's final norm
///
/// A Post-LN family has none ([`NoNorm`](crate::NoNorm)): its blocks return normalised tokens. PyTorch:
/// `nn.TransformerEncoder(nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF), LAYERS, norm)`.
///
/// ```
/// use constformer::{Bert, Encoder, Layer, Scratch, Sequence, Zero};
///
/// type MiniLm = Encoder<Bert, 6, 384, 1536, 12>; // LAYERS, D_MODEL, D_FF, HEADS
///
/// static ENCODER: Encoder<Bert, 2, 64, 256, 4> = Encoder::ZERO;
/// let mut x = Sequence::<64, 16>::new();
/// x.push(&[1.0; 64])?;
/// let mut scratch = Scratch::<64, 256, 16>::ZERO;
/// ENCODER.forward(&mut x, &mut scratch);
/// assert_eq!(x.len(), 1);
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Encoder<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    T: Format = f32,
> where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    /// The blocks, first to last.
    pub blocks: [EncoderBlock<F, D_MODEL, D_FF, HEADS, T>; LAYERS],
    /// The final norm.
    pub norm: F::FinalNorm<D_MODEL>,
}

parameters! {
    [F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T> { blocks, norm }
    where { Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth }
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format> Model
    for Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<
        D_MODEL,
        SEQ_LEN,
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
        T::Stream,
    >;

    const MACS: Macs = EncoderBlock::<F, D_MODEL, D_FF, HEADS, T>::MACS.times(LAYERS);
}

impl<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format>
    Layer<D_MODEL> for Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    type Stream = T::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.observe(x, scratch, &Name::ROOT, &mut Unobserved);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.blocks.observe(x, scratch, &name.field("blocks"), observer);
        x.normalize::<T::Number>(&self.norm);
        Watch::new(&name.field("norm"), observer).sequence(x);
    }

    fn forward_batch<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        batch: &mut [Sequence<D_MODEL, SEQ_LEN, T::Stream>],
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_MODEL, T::KeyValues, T::Stream, T::Number>,
    ) {
        self.blocks.forward_batch(batch, scratch);
        for x in batch {
            x.normalize::<T::Number>(&self.norm);
        }
    }
}

// A model is its parameters and nothing else, at odd widths too, and can be shared.
static_assertions::const_assert_eq!(
    size_of::<Encoder<crate::Vit, 2, 21, 13, 7>>(),
    size_of::<f32>() * <Encoder<crate::Vit, 2, 21, 13, 7> as crate::Parameters>::COUNT
);
static_assertions::assert_eq_align!(Encoder<crate::Vit, 2, 21, 13, 7>, f32);
static_assertions::assert_impl_all!(Encoder<crate::Kwt, 2, 21, 13, 7>: crate::Plain, Send, Sync);
