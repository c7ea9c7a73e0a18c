//! Forward passes in steps, between which something else can be done.

use crate::{
    block::EncoderBlock,
    decoder::{Decoder, DecoderBlock},
    encoder::Encoder,
    family::Family,
    format::Format,
    layer::Layer,
    mask::Causal,
    observe::{Unobserved, Watch},
    parameters::Name,
    sequence::Sequence,
    shape::{KnownWidth, SharedBy, SplitInto, Width},
    sub_layers::{self, Remembered, Scratch},
};

/// A layer whose forward pass can be taken in steps of a tile of tokens in a block, so that a watchdog is fed or other tasks run in between.
///
/// The outputs are those of [`forward`](Layer::forward), bit for bit: that takes the same steps.
///
/// ```
/// use constformer::{Encoder, Kwt, Memory, SteppedLayer, Working, boxed};
///
/// type Kws = Encoder<Kwt, 12, 64, 256, 1>;
///
/// let encoder = boxed::<Kws>();
/// let mut memory = boxed::<Memory<Kws, 99, 4>>();
/// let Working { stream, scratch } = &mut *memory;
/// stream.push(&[1.0; 64])?;
/// for _step in encoder.start(stream, scratch) {
///     // feed the watchdog; in an async task: yield to the others
/// }
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the forward pass of `{Self}` cannot be taken in steps",
    label = "an encoder or a decoder of width {D_MODEL} is wanted here"
)]
pub trait SteppedLayer<const D_MODEL: usize>: Layer<D_MODEL> {
    /// Steps for `len` tokens, `TILE` of them at a time.
    fn steps<const TILE: usize>(len: usize) -> usize;

    /// Takes step `step`, after those before it.
    #[doc(hidden)]
    fn step<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        step: usize,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    );

    /// The forward pass, of which no step is taken yet; when all are, the tokens are replaced by the output of the layer.
    fn start<'a, const SEQ_LEN: usize, const TILE: usize>(
        &'a self,
        x: &'a mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &'a mut Self::Scratch<SEQ_LEN, TILE>,
    ) -> Steps<'a, Self, D_MODEL, SEQ_LEN, TILE> {
        let count = Self::steps::<TILE>(x.len());
        Steps { layer: self, x, scratch, next: 0, count }
    }
}

/// A forward pass, an iterator over its steps: each is taken when it is asked for, and is its own number.
pub struct Steps<'a, L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> {
    layer: &'a L,
    x: &'a mut Sequence<D_MODEL, SEQ_LEN, L::Stream>,
    scratch: &'a mut L::Scratch<SEQ_LEN, TILE>,
    next: usize,
    count: usize,
}

impl<'a, L: SteppedLayer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>
    Steps<'a, L, D_MODEL, SEQ_LEN, TILE>
{
    /// Takes all steps that are left; returns the output.
    pub fn finish(mut self) -> &'a mut Sequence<D_MODEL, SEQ_LEN, L::Stream> {
        self.by_ref().for_each(drop);
        self.x
    }
}

impl<L: SteppedLayer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> Iterator
    for Steps<'_, L, D_MODEL, SEQ_LEN, TILE>
{
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let step = self.next;
        if step >= self.count {
            return None;
        }
        self.layer.step(step, self.x, self.scratch);
        self.next += 1;
        Some(step)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.count - self.next;
        (left, Some(left))
    }
}

impl<L: SteppedLayer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> ExactSizeIterator
    for Steps<'_, L, D_MODEL, SEQ_LEN, TILE>
{
}

impl<L: SteppedLayer<D_MODEL>, const D_MODEL: usize, const N: usize> SteppedLayer<D_MODEL> for [L; N] {
    fn steps<const TILE: usize>(len: usize) -> usize {
        N * L::steps::<TILE>(len)
    }

    fn step<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        step: usize,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        let each = L::steps::<TILE>(x.len());
        let (layer, step) = (step.checked_div(each).unwrap_or_default(), step.checked_rem(each).unwrap_or_default());
        if let Some(layer) = self.get(layer) {
            layer.step(step, x, scratch);
        }
    }
}

/// Implements [`SteppedLayer`] for a block, or for a stack of blocks and its norm, which is the last step.
macro_rules! stepped {
    ([$($generics:tt)*] block $block:ty: $shape:path) => {
        impl<$($generics)*> SteppedLayer<D_MODEL> for $block
        where
            Width<D_MODEL>: $shape,
            Width<D_FF>: KnownWidth,
        {
            fn steps<const TILE: usize>(len: usize) -> usize {
                sub_layers::steps::<F::Mask, TILE>(len)
            }

            fn step<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                step: usize,
                x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
                scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
            ) {
                let Scratch { key_values, tile } = scratch;
                let (root, nobody) = (Name::ROOT, &mut Unobserved);
                let (none, nobody) = (Remembered::default(), &mut Watch::new(&root, nobody));
                self.sub_layers().step(step, x.stored_mut(), none, key_values, tile, nobody, |_, _, _| ());
            }
        }
    };
    ([$($generics:tt)*] stack $stack:ty: $shape:path) => {
        impl<$($generics)*> SteppedLayer<D_MODEL> for $stack
        where
            Width<D_MODEL>: $shape,
            Width<D_FF>: KnownWidth,
        {
            fn steps<const TILE: usize>(len: usize) -> usize {
                LAYERS * sub_layers::steps::<F::Mask, TILE>(len) + 1
            }

            fn step<const SEQ_LEN: usize, const TILE: usize>(
                &self,
                step: usize,
                x: &mut Sequence<D_MODEL, SEQ_LEN, T::Stream>,
                scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
            ) {
                if step + 1 < Self::steps::<TILE>(x.len()) {
                    self.blocks.step(step, x, scratch);
                } else {
                    x.normalize::<T::Number>(&self.norm);
                }
            }
        }
    };
}

stepped! {
    [F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    block EncoderBlock<F, D_MODEL, D_FF, HEADS, T>: SplitInto<HEADS>
}

stepped! {
    [F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format]
    stack Encoder<F, LAYERS, D_MODEL, D_FF, HEADS, T>: SplitInto<HEADS>
}

stepped! {
    [
        F: Family<Mask = Causal>, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, T: Format,
        const KV_HEADS: usize, const D_KV: usize
    ]
    block DecoderBlock<F, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>: SharedBy<HEADS, KV_HEADS, D_KV>
}

stepped! {
    [
        F: Family<Mask = Causal>, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize,
        T: Format, const KV_HEADS: usize, const D_KV: usize
    ]
    stack Decoder<F, LAYERS, D_MODEL, D_FF, HEADS, T, KV_HEADS, D_KV>: SharedBy<HEADS, KV_HEADS, D_KV>
}
