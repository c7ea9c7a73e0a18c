//! What can be stacked, and stacks.

use crate::{
    cost::{Macs, Model},
    observe::{Observer, Unobserved, Watch},
    parameters::Name,
    plain::Zero,
    sequence::Sequence,
    token_format::TokenFormat,
};
use zerocopy::FromZeros;

/// A map of tokens to tokens of the same width: what it is given, it returns. That is why layers stack.
///
/// [`EncoderBlock`](crate::EncoderBlock), an array of layers, [`Encoder`](crate::Encoder), and what you make of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer of width {D_MODEL}",
    label = "a layer of tokens with {D_MODEL} features is wanted here"
)]
pub trait Layer<const D_MODEL: usize>: Model {
    /// How the tokens are stored before and after: `f32`, mostly.
    type Stream: TokenFormat;
    /// Working memory for up to `SEQ_LEN` tokens, `TILE` of them at a time. What it holds before and after does not matter.
    type Scratch<const SEQ_LEN: usize, const TILE: usize>: Zero + FromZeros;

    /// Replaces the tokens by the output of the layer.
    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    );

    /// As [`forward`](Self::forward), and `observer` sees what happens inside, under names that begin with `name`. A layer of
    /// which nothing else is known shows its output.
    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.forward(x, scratch);
        Watch::new(name, observer).sequence(x);
    }

    /// Replaces the tokens of each sequence by the output of the layer. Sequences do not see one another.
    fn forward_batch<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        batch: &mut [Sequence<D_MODEL, SEQ_LEN, Self::Stream>],
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        for x in batch {
            self.forward(x, scratch);
        }
    }
}

/// N layers, one after the other.
impl<L: Model, const N: usize> Model for [L; N] {
    type Memory<const SEQ_LEN: usize, const TILE: usize> = L::Memory<SEQ_LEN, TILE>;

    const MACS: Macs = L::MACS.times(N);
}

impl<L: Layer<D_MODEL>, const D_MODEL: usize, const N: usize> Layer<D_MODEL> for [L; N] {
    type Stream = L::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> = L::Scratch<SEQ_LEN, TILE>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        self.observe(x, scratch, &Name::ROOT, &mut Unobserved);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        for (i, layer) in self.iter().enumerate() {
            let name = name.index(i);
            layer.observe(x, scratch, &name, observer);
            observer.layer(&name);
        }
    }

    /// Layer by layer, so that each layer's weights are read from memory once.
    fn forward_batch<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        batch: &mut [Sequence<D_MODEL, SEQ_LEN, Self::Stream>],
        scratch: &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        for layer in self {
            layer.forward_batch(batch, scratch);
        }
    }
}
