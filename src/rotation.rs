//! Rotary positions as types.

use crate::math::log_ten;
use core::marker::PhantomData;
use typenum::{U10000, Unsigned};

/// Whether and how queries and keys are turned by their positions: [`NoRotation`], [`Interleaved`] or [`HalfSplit`]
///
/// (x_a, x_b) becomes (x_a cos φ - x_b sin φ, x_a sin φ + x_b cos φ) with φ = p θ^(-2i / d), for every pair i of the d columns
/// of a head and the position p of the token. The score of a query and a key then depends on how far they are apart. Which
/// columns a and b make a pair is a convention of the checkpoint; the wrong one gives plausible nonsense, so the two are two
/// types.
///
/// Su et al., [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864), 2021.
pub trait Rotation: Copy + Send + Sync + 'static {
    /// Which columns make a pair; `None` for no rotation.
    const PAIRING: Option<Pairing>;
    /// The base θ.
    const THETA: f64;
    /// log₁₀ θ
    #[doc(hidden)]
    const LOG_THETA: f64 = log_ten(Self::THETA);
}

/// Which columns of a head make a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// 2i and 2i + 1.
    Interleaved,
    /// i and i + d/2.
    HalfSplit,
}

/// Positions are not in the attention.
#[derive(Clone, Copy, Debug)]
pub struct NoRotation;

/// The pairs are (0, 1), (2, 3), ...: the paper's, Llama's own checkpoints and those of llama2.c. `THETA` is a number of
/// `typenum`.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved<THETA = U10000>(PhantomData<THETA>);

/// The pairs are (0, d/2), (1, d/2 + 1), ...: GPT-NeoX and Hugging Face's Llama. `THETA` is a number of `typenum`.
#[derive(Clone, Copy, Debug)]
pub struct HalfSplit<THETA = U10000>(PhantomData<THETA>);

impl Rotation for NoRotation {
    const PAIRING: Option<Pairing> = None;
    const THETA: f64 = 1.0;
}

impl<THETA: Unsigned + Copy + Send + Sync + 'static> Rotation for Interleaved<THETA> {
    const PAIRING: Option<Pairing> = Some(Pairing::Interleaved);
    const THETA: f64 = THETA::U64 as f64;
}

impl<THETA: Unsigned + Copy + Send + Sync + 'static> Rotation for HalfSplit<THETA> {
    const PAIRING: Option<Pairing> = Some(Pairing::HalfSplit);
    const THETA: f64 = THETA::U64 as f64;
}

/// What tells rotations apart in a fingerprint.
pub(crate) const fn fingerprint<R: Rotation>(fingerprint: crate::Fingerprint) -> crate::Fingerprint {
    mix(fingerprint, R::PAIRING, R::THETA)
}

/// [`fingerprint`] by values.
pub(crate) const fn mix(fingerprint: crate::Fingerprint, pairing: Option<Pairing>, theta: f64) -> crate::Fingerprint {
    match pairing {
        None => fingerprint,
        Some(Pairing::Interleaved) => fingerprint.name("rotary, interleaved").number(theta as usize),
        Some(Pairing::HalfSplit) => fingerprint.name("rotary, half split").number(theta as usize),
    }
}
