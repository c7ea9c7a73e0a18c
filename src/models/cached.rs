//! Models that go on where they stopped.

use crate::{
    cache::Past,
    cost::Model,
    embedding::InputError,
    plain::Zero,
    sequence::{Sequence, TooLong},
    tile::rows,
    token_format::TokenFormat,
};
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
pub struct CachedWorking<const D_MODEL: usize, const TILE: usize, C, S, X: TokenFormat = f32> {
    pub(super) scratch: S, // in the order of `Working`, and for the same reason
    /// What is remembered: to be reset, rewound, or told to let go.
    pub cache: C,
    pub(super) stream: Sequence<D_MODEL, TILE, X>,
}

impl<const D_MODEL: usize, const TILE: usize, C: Zero, S: Zero, X: TokenFormat> Zero
    for CachedWorking<D_MODEL, TILE, C, S, X>
{
    const ZERO: Self = Self { scratch: Zero::ZERO, cache: Zero::ZERO, stream: Zero::ZERO };
}

/// Takes `inputs` in tiles of `TILE`, with `step`, which makes the cache remember them. If a step fails, the cache forgets those
/// before it too.
pub(super) fn in_tiles<I, C: Past, const CAPACITY: usize, const TILE: usize>(
    inputs: &[I],
    cache: &mut C,
    mut step: impl FnMut(&[I], &mut C) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let before = cache.len();
    TooLong::check::<CAPACITY>(before.saturating_add(inputs.len()))?;
    for inputs in inputs.chunks(rows::<TILE>(inputs.len())) {
        if let Err(error) = step(inputs, cache) {
            cache.rewind(before)?;
            return Err(error);
        }
    }
    Ok(())
}
