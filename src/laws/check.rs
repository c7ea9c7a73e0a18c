//! One line that checks all laws of a thing.
//!
//! Each is for a `#[test]`. It tries `PROPTEST_CASES` cases of every law that holds for the thing (256 by default; the same
//! ones every time, unless `PROPTEST_RNG_SEED` is set), and panics with a [`Counterexample`] if one is broken. The functions of
//! [`search`] return it instead.
//!
//! | line | asks |
//! |---|---|
//! | [`layer::<L, D_MODEL, SEQ_LEN>()`](layer) | [`sequence`](super::sequence) |
//! | [`causal::<L, D_MODEL, SEQ_LEN>()`](causal) | that, and [`attention::prefix`](super::attention::prefix) |
//! | [`bidirectional::<L, D_MODEL, SEQ_LEN>()`](bidirectional) | that, and [`attention::permutation`](super::attention::permutation) |
//! | [`block::<B, D_MODEL, SEQ_LEN>()`](block) | what holds for a block or a stack of its family: one of the above, and [`residual`](super::residual), [`stack`](super::stack) |
//! | [`norm::<N, D_MODEL>()`](norm) | [`norm`](super::norm), and [`layer_norm`](super::layer_norm) or [`rms_norm`](super::rms_norm) if it says that it is one |
//! | [`layer_norm::<N, D_MODEL>(ε)`](layer_norm), [`rms_norm::<N, D_MODEL>(ε)`](rms_norm) | the same of a norm that does not say it |
//! | [`attention::<F, D_MODEL, HEADS, SEQ_LEN>()`](attention) | [`attention`](super::attention): convexity, one token |
//! | [`feed_forward::<W, D_MODEL, D_FF, SEQ_LEN>()`](feed_forward) | [`feed_forward`](super::feed_forward) |
//! | [`family::<F, D_MODEL, D_FF, HEADS, SEQ_LEN>()`](family) | the norms, the sub-layers, the block and stacks of it |
//! | [`activation::<A>()`](activation) | [`activation::lanes`](super::activation::lanes) |
//! | [`gate::<A>()`](gate) | all of [`activation`](super::activation) |
//! | [`softmax(f)`](softmax) | [`softmax`](super::softmax) |
//! | [`image::<M>()`](image) | [`image`](super::image) |

use super::search::{self, Counterexample};
use crate::{Activation, Family, KnownWidth, Layer, Norm, Parameters, PositionWise, SplitInto, Width, laws::Member};

#[track_caller]
fn none(found: Option<Counterexample>) {
    if let Some(counterexample) = found {
        panic!("{counterexample}");
    }
}

/// Any layer: padding, capacity, tiles, batches and repetition do not matter.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn layer<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() {
    none(search::layer::<L, D_MODEL, SEQ_LEN>());
}

/// A layer in which no token sees a later one.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn causal<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() {
    none(search::causal::<L, D_MODEL, SEQ_LEN>());
}

/// A layer in which every token sees all, and knows no positions.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn bidirectional<L: Layer<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() {
    none(search::bidirectional::<L, D_MODEL, SEQ_LEN>());
}

/// A block of a family, or a stack of them: [`EncoderBlock`](crate::EncoderBlock), [`Encoder`](crate::Encoder), [`DecoderBlock`](crate::DecoderBlock),
/// [`Decoder`](crate::Decoder), arrays of them, and your own.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn block<B: Member<D_MODEL>, const D_MODEL: usize, const SEQ_LEN: usize>() {
    none(search::block::<B, D_MODEL, SEQ_LEN>());
}

/// A norm that says by [`RMS_AND_EPSILON`](Norm::RMS_AND_EPSILON) which it is; of one that does not, only that it takes every token
/// alone.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn norm<N: Norm<D_MODEL>, const D_MODEL: usize>() {
    none(search::norm::<N, D_MODEL>());
}

/// A LayerNorm of that ε. Its gain is called `weight`, its bias otherwise.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn layer_norm<N: Norm<D_MODEL>, const D_MODEL: usize>(epsilon: f32) {
    none(search::layer_norm::<N, D_MODEL>(epsilon));
}

/// An RMSNorm of that ε. Its gain is called `weight`.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn rms_norm<N: Norm<D_MODEL>, const D_MODEL: usize>(epsilon: f32) {
    none(search::rms_norm::<N, D_MODEL>(epsilon));
}

/// The attention of a family.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn attention<F: Family, const D_MODEL: usize, const HEADS: usize, const SEQ_LEN: usize>()
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    none(search::attention::<F, D_MODEL, HEADS, SEQ_LEN>());
}

/// A feed-forward layer, whatever its activation.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn feed_forward<W, const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize>()
where
    W: PositionWise<D_MODEL, D_FF, Number = f32>,
{
    none(search::feed_forward::<W, D_MODEL, D_FF, SEQ_LEN>());
}

/// A family: its norms, its attention, its feed-forward layer, its block, two blocks, and an encoder of two.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn family<F: Family, const D_MODEL: usize, const D_FF: usize, const HEADS: usize, const SEQ_LEN: usize>()
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    none(search::family::<F, D_MODEL, D_FF, HEADS, SEQ_LEN>());
}

/// Any activation.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn activation<A: Activation>() {
    none(search::activation::<A>());
}

/// An activation that is a gate, as ReLU, GELU and SiLU are.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn gate<A: Activation>() {
    none(search::gate::<A>());
}

/// A function that replaces scores by their softmax.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn softmax<S: Fn(&mut [f32])>(softmax: S) {
    none(search::softmax(softmax));
}

/// Images of a model.
///
/// # Panics
///
/// If a law is broken, with a counterexample.
#[track_caller]
pub fn image<M: Parameters>() {
    none(search::image::<M>());
}
