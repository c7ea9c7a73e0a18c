//! The law kit: what holds for blocks whatever their parameters, to be tested for blocks of your own.
//!
//! One line checks all laws of a block, of a norm, of an activation, of a family: [`check`]. Which they are is known from the
//! types. If one is broken, the line panics with the law and a small counterexample.
//!
//! ```
//! use constformer::{EncoderBlock, Gpt2, laws};
//!
//! type Block = EncoderBlock<Gpt2, 21, 13, 7>; // D_MODEL, D_FF, HEADS
//!
//! // #[test]
//! fn laws_of_my_block() {
//!     laws::check::block::<Block, 21, 11>(); // D_MODEL, SEQ_LEN
//! }
//! # laws_of_my_block();
//! ```
//!
//! A single law is a function. It is given your layer and the inputs, and returns an error if it does not hold for them, so it
//! stands in `proptest!` with a `?`. The constants of a law of layers are `D_MODEL`, `SEQ_LEN` and `TILE`, in that order.
//!
//! ```
//! # use constformer::{EncoderBlock, Gpt2, laws};
//! use proptest::prelude::*;
//!
//! # type Block = EncoderBlock<Gpt2, 21, 13, 7>;
//! proptest! {
//!     # #![proptest_config(ProptestConfig::with_cases(4))]
//!     // #[test]
//!     fn no_token_sees_a_later_one(tokens in laws::tokens(0..=11), block in laws::models::<Block>()) {
//!         laws::attention::prefix::<21, 11, 4>(&*block, &tokens)?;
//!     }
//! }
//! # no_token_sees_a_later_one();
//! ```
//!
//! | laws of | are |
//! |---|---|
//! | [`activation`] | kinds of gate; reflection; limits; lanes |
//! | [`norm`], [`layer_norm`], [`rms_norm`] | moments; invariance to shift and scale; idempotence; gains and biases |
//! | [`softmax`] | a distribution; invariance to shift; order; masks |
//! | [`attention`] | equivariance to permutation; prefixes; convexity; one token |
//! | [`feed_forward`] | every token alone |
//! | [`residual`] | what is left of zero branches; normalised output; a block is its sub-layers |
//! | [`sequence`] | padding, capacity and tiles do not matter; batches; repetition |
//! | [`stack`] | one layer after the other |
//! | [`image`] | what is written is read; what is damaged is refused |
//!
//! "Bit for bit" laws have no tolerance. The others allow for rounding, u = 2⁻²⁴ being that of one operation; each says how
//! much and why. `docs/property-testing.md` has them in one table.

#![allow(clippy::missing_errors_doc)] // the error of a law is that it does not hold

pub mod activation;
pub mod attention;
pub mod check;
pub mod feed_forward;
pub mod image;
pub mod layer_norm;
mod member;
pub mod norm;
pub mod residual;
pub mod rms_norm;
pub mod search;
pub mod sequence;
pub mod softmax;
pub mod stack;
mod statements;
mod strategies;

pub use proptest;

pub use member::Member;
pub use search::Counterexample;
pub use statements::{STATEMENTS, Statement};
pub use strategies::{
    Damage, Damaged, Explain, ModelTree, Models, Padded, Random, TokenLists, TokensTree, damaged_images,
    extreme_scores, extreme_tokens, fill, model, models, padded, scores, tokens,
};

use crate::{Boxed, Layer, Sequence, TokenFormat, TooLong, boxed};
use proptest::test_runner::TestCaseError;
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// Whether a law holds.
pub type Law = Result<(), TestCaseError>;

/// u: the most that rounding changes a number by, relatively.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// Tokens with room for `SEQ_LEN`.
fn sequence<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
    tokens: &[[f32; D_MODEL]],
) -> Result<Boxed<Sequence<D_MODEL, SEQ_LEN, S>>, TestCaseError> {
    let mut x = boxed::<Sequence<D_MODEL, SEQ_LEN, S>>();
    x.assign(tokens).map_err(too_long)?;
    Ok(x)
}

fn too_long(TooLong { capacity, found }: TooLong) -> TestCaseError {
    TestCaseError::fail(format!("{found} tokens are given to a law with room for {capacity}"))
}

/// The tokens of a sequence.
fn values<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
    x: &Sequence<D_MODEL, SEQ_LEN, S>,
) -> Vec<[f32; D_MODEL]> {
    let mut tokens = Vec::new();
    x.read(|_, some| tokens.extend_from_slice(some));
    tokens
}

/// The output of a layer, in memory that is all zeros.
fn run<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    tokens: &[[f32; D_MODEL]],
) -> Result<Vec<[f32; D_MODEL]>, TestCaseError> {
    run_in::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens, &mut boxed())
}

/// The output of a layer, in given memory.
fn run_in<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    tokens: &[[f32; D_MODEL]],
    scratch: &mut L::Scratch<SEQ_LEN, TILE>,
) -> Result<Vec<[f32; D_MODEL]>, TestCaseError> {
    let mut x = sequence::<D_MODEL, SEQ_LEN, L::Stream>(tokens)?;
    layer.forward(&mut x, scratch);
    Ok(values(&x))
}

/// As `prop_assert!`, which says at which line of the law it failed, too: that is of no use to who has broken it.
fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Law {
    if condition { Ok(()) } else { Err(TestCaseError::fail(otherwise())) }
}

/// `found` is `expected`, bit for bit.
fn same<const N: usize>(what: &str, found: &[[f32; N]], expected: &[[f32; N]]) -> Law {
    holds(found.len() == expected.len(), || {
        format!("{what}: {} tokens come out, not {}", found.len(), expected.len())
    })?;
    for (token, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (feature, (found, expected)) in found.iter().zip(expected).enumerate() {
            holds(found.to_bits() == expected.to_bits(), || {
                format!("{what}: feature {feature} of token {token} is {found:?}, not {expected:?}")
            })?;
        }
    }
    Ok(())
}

/// |found - expected| ≤ tolerance; a NaN is close to nothing.
fn close(what: &impl ToString, found: f64, expected: f64, tolerance: f64) -> Law {
    let error = (found - expected).abs();
    holds(error <= tolerance, || format!("{}: {found:e}, not {expected:e} ± {tolerance:e}", what.to_string()))
}

/// maxᵢ |xᵢ|
fn largest(x: &[f32]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::from(x.abs()).max(largest))
}
