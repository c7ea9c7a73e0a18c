//! Models that go on where they stopped.

use crate::{cost::Model, plain::Zero, sequence::Sequence};
use zerocopy::FromZeros;

/// A model that remembers the tokens it was given: a [`LanguageModel`](crate::LanguageModel) of a
/// [`CachedLayer`](crate::CachedLayer).
pub trait CachedModel: Model {
    /// Every byte that generation needs besides the weights, for up to `CAPACITY` tokens, `TILE` of them at a time.
    type CachedMemory<const CAPACITY: usize, const TILE: usize>: Zero + FromZeros;
}

/// The memory of the model `M` for a text of up to `CAPACITY` tokens that grows token by token: a `static`, or `boxed` on a host.
pub type CachedMemory<M, const CAPACITY: usize, const TILE: usize = { crate::TILE }> =
    <M as CachedModel>::CachedMemory<CAPACITY, TILE>;

/// The cache `C`, `TILE` tokens on their way through the layers, and the scratch `S` of those.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct CachedWorking<const D_MODEL: usize, const TILE: usize, C, S> {
    /// What is remembered: to be reset, rewound, or told to let go.
    pub cache: C,
    pub(super) stream: Sequence<D_MODEL, TILE>,
    pub(super) scratch: S,
}

impl<const D_MODEL: usize, const TILE: usize, C: Zero, S: Zero> Zero for CachedWorking<D_MODEL, TILE, C, S> {
    const ZERO: Self = Self { cache: Zero::ZERO, stream: Zero::ZERO, scratch: Zero::ZERO };
}
