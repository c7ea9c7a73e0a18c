//! The laws of the blocks, on the blocks of this library.
//!
//! Every dimension is another prime (but `D_MODEL`, which heads must divide), so that none can be taken for another; a few
//! laws are tried with widths of whole panels too.

mod blocks;
mod caught;
mod formats;
mod functions;
mod norms;

use constformer::*;
use proptest::prelude::ProptestConfig;
use typenum::U6;

const D_MODEL: usize = 21;
const D_FF: usize = 13;
const SEQ_LEN: usize = 11;
const LARGER: usize = 17;
const TILE: usize = 4;

type Block<F, const HEADS: usize = 7> = EncoderBlock<F, D_MODEL, D_FF, HEADS>;
type Attention<F, const HEADS: usize = 3> = MultiHeadAttention<F, D_MODEL, HEADS>;

/// All that the published families have not: Pre-LN without a mask, `RMSNorm`, gates, no biases.
#[derive(Clone, Copy)]
struct Gated;

impl Family for Gated {
    type Placement = PreLn;
    type Norm<const D_MODEL: usize> = RmsNorm<D_MODEL, U6>;
    type FinalNorm<const D_MODEL: usize> = RmsNorm<D_MODEL, U6>;
    type Mask = Bidirectional;
    type Rotation = constformer::NoRotation;
    type InputBias = NoBias;
    type OutputBias = NoBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

/// As many cases as `PROPTEST_CASES` says, 256 by default. No file of failures: their seeds are printed, and one that matters
/// becomes a test of its own.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}
