//! Gestures told from an accelerometer and a gyroscope, on a microcontroller: no heap, no operating system, no `unsafe`.
//!
//! All that a crate can make of its own with `constformer` is made here: a family, an activation, a model, a placement in
//! memory, generic code over blocks.

#![no_std]

mod learning;
mod speaker;

pub use learning::{LEARNING, Learning};
pub use speaker::{CAPACITY, SPEAKER_MEMORY, Silence, Speaker, SpeakerMemory, speak};

use constformer::{
    Activation, Causal, Empty, Encoder, EncoderBlock, Family, FeedForward, Format, KnownWidth, Layer, LearnedPositions,
    Linear, Macs, Memory, Model, NoBias, Plan, Pooling, PreLn, RmsNorm, Scratch, Sequence, SplitInto, TokenFormat,
    Width, WithBias, Working, Zero, machine::Machine, model,
};
use static_cell::ConstStaticCell;

/// Measurements in a gesture, at most.
pub const SEQ_LEN: usize = 33;
/// Numbers in a measurement.
pub const AXES: usize = 6;
/// Gestures that are told from one another.
pub const GESTURES: usize = 5;

const D_MODEL: usize = 9;
const D_FF: usize = 14;
const HEADS: usize = 3;
/// Tokens at a time.
const TILE: usize = 4;

/// max(0, x)²
#[derive(Clone, Copy, Debug)]
pub struct SquaredRelu;

impl Activation for SquaredRelu {
    const NAME: &'static str = "squared relu";

    #[inline(always)]
    fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector {
        let x = m.max(m.splat(0.0), x);
        m.mul(x, x)
    }
}

/// The family of the blocks: Pre-LN with RMSNorm, causal, squared ReLU, no biases but that of attention's output.
#[derive(Clone, Copy, Debug)]
pub struct Primer;

impl Family for Primer {
    type Placement = PreLn;
    type Norm<const D_MODEL: usize> = RmsNorm<D_MODEL>;
    type FinalNorm<const D_MODEL: usize> = RmsNorm<D_MODEL>;
    type Mask = Causal;
    type Rotation = constformer::NoRotation;
    type InputBias = NoBias;
    type OutputBias = WithBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = FeedForward<D_MODEL, D_FF, SquaredRelu, T, NoBias>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

/// The encoder of the model.
pub type Blocks = Encoder<Primer, 2, D_MODEL, D_FF, HEADS>;

model! {
    /// Which gesture a series of measurements is.
    pub struct Gestures {
        /// Measurements to tokens.
        pub embedding: Linear<AXES, D_MODEL>,
        /// Where they stand.
        pub positions: LearnedPositions<D_MODEL, SEQ_LEN>,
        /// Tokens to tokens.
        pub encoder: Blocks,
        /// The last token to a score for each gesture.
        pub head: Linear<D_MODEL, GESTURES, f32, NoBias>,
    }
}

impl Model for Gestures {
    type Memory<const SEQ_LEN: usize, const TILE: usize> = Memory<Blocks, SEQ_LEN, TILE>;

    const MACS: Macs = Macs::per_token((AXES * D_MODEL) as u64)
        .and(<Blocks as Model>::MACS)
        .and(Macs::once((D_MODEL * GESTURES) as u64));
}

impl Gestures {
    /// A score for each gesture.
    ///
    /// # Errors
    ///
    /// [`Empty`] if there is no measurement.
    pub fn forward<const TILE: usize>(
        &self,
        series: &Sequence<AXES, SEQ_LEN>,
        memory: &mut Memory<Self, SEQ_LEN, TILE>,
    ) -> Result<[f32; GESTURES], Empty> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(series, stream);
        self.positions.forward(stream);
        self.encoder.forward(stream, scratch);
        Ok(self.head.apply(&Last::pool(stream)?))
    }
}

/// A pooling of one's own: the last token, which has seen all others.
#[derive(Clone, Copy, Debug)]
pub struct Last;

impl Pooling for Last {
    const NAME: &'static str = "last token";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[f32; D_MODEL], Empty> {
        x.last().ok_or(Empty)
    }
}

/// The model, in flash.
#[cfg(feature = "flash")]
pub static GESTURES_MODEL: &Gestures = constformer::include_model!(Gestures, "../gestures.cfm");

/// The working memory of the model, in `.bss`: taken once.
pub static MEMORY: ConstStaticCell<Memory<Gestures, SEQ_LEN, TILE>> = ConstStaticCell::new(Zero::ZERO);

// The budget: 8 KiB of flash, 6 KiB of RAM.
const _: () = Plan::<Gestures, SEQ_LEN, TILE>::assert_fits(8 * 1024, 6 * 1024);

/// One block run several times over, as by ALBERT: generic code, with the bounds that it takes.
pub struct Repeated<'a, F: Family, const D: usize, const FF: usize, const H: usize>
where
    Width<D>: SplitInto<H>,
    Width<FF>: KnownWidth,
{
    block: &'a EncoderBlock<F, D, FF, H>,
    times: usize,
}

impl<'a, F: Family, const D: usize, const FF: usize, const H: usize> Repeated<'a, F, D, FF, H>
where
    Width<D>: SplitInto<H>,
    Width<FF>: KnownWidth,
{
    /// `block`, so many times.
    #[must_use]
    pub const fn new(block: &'a EncoderBlock<F, D, FF, H>, times: usize) -> Self {
        Self { block, times }
    }

    /// Replaces the tokens by the output.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D, SEQ_LEN>,
        scratch: &mut Scratch<D, FF, SEQ_LEN, TILE>,
    ) {
        for _ in 0..self.times {
            self.block.forward(x, scratch);
        }
    }
}

/// The largest feature after a layer of any kind.
pub fn peak<F: Family, const D: usize, const H: usize>(
    block: &EncoderBlock<F, D, D, H>,
    x: &mut Sequence<D, 8>,
    scratch: &mut Scratch<D, D, 8>,
) -> f32
where
    Width<D>: SplitInto<H>,
{
    block.forward(x, scratch);
    x.tokens().as_flattened().iter().fold(0.0, |peak, x| f32::max(peak, x.abs()))
}

/// The same over any layer: it needs no bound on heads.
pub fn run<L: Layer<D>, const D: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &L,
    memory: &mut Working<D, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
) {
    layer.forward(&mut memory.stream, &mut memory.scratch);
}

/// A header whose lengths would overflow 32 bits: refused on every target, and at compile time.
const _: () = {
    let mut image = [0xff; 56];
    let start = *b"\x89CFM\r\n\x1a\n\x02\x01\x02\x00\x01\x00\x00\x00";
    let mut i = 0;
    while i < start.len() {
        image[i] = start[i];
        i += 1;
    }
    assert!(matches!(constformer::image::Info::parse(&image), Err(constformer::image::ImageError::Length { .. })));
};
