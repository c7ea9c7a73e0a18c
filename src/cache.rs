//! Keys and values remembered from call to call, so that a new token costs one token's work.

use crate::{
    attention::KeyValueFormat,
    layer::Layer,
    plain::Zero,
    sequence::{Sequence, TooLong},
    sub_layers::Remembered,
};
use zerocopy::FromZeros;

/// The keys and values of up to `CAPACITY` tokens in each of `LAYERS` layers, `D_KV` columns each.
///
/// What a [`Decoder`](crate::Decoder) has [extended](CachedLayer::extend) it with, it need not compute again. The outputs are
/// those of all tokens at once, bit for bit.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Cache<const LAYERS: usize, const D_KV: usize, const CAPACITY: usize, K: KeyValueFormat = f32> {
    layers: [K::KeyValues<D_KV, CAPACITY>; LAYERS],
    len: u32,
    let_go: u32,
}

impl<const LAYERS: usize, const D_KV: usize, const CAPACITY: usize, K: KeyValueFormat> Zero
    for Cache<LAYERS, D_KV, CAPACITY, K>
{
    const ZERO: Self = Self { layers: Zero::ZERO, len: 0, let_go: 0 };
}

impl<const LAYERS: usize, const D_KV: usize, const CAPACITY: usize, K: KeyValueFormat>
    Cache<LAYERS, D_KV, CAPACITY, K>
{
    /// Number of tokens remembered.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no token is remembered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The position of the next token: how many tokens are remembered, and how many were let go before them.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.let_go as usize + self.len()
    }

    /// Forgets all tokens.
    pub const fn reset(&mut self) {
        self.len = 0;
        self.let_go = 0;
    }

    /// Forgets all but the first `len` of the tokens remembered: to try another continuation.
    ///
    /// If one that is forgotten was not a finite number, [`reset`](Self::reset) instead: see [`Causal`](crate::Causal).
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are fewer than `len`; then nothing is changed.
    pub const fn rewind(&mut self, len: usize) -> Result<(), TooLong> {
        if len > self.len() {
            return Err(TooLong { capacity: self.len(), found: len });
        }
        self.len = len as u32;
        Ok(())
    }

    /// Lets go of the `count` oldest tokens, or of all: a sliding window. Those that stay keep their positions, so it is of no use
    /// to an embedding that has come to its last position; rotary positions have no end.
    ///
    /// It moves what stays, so let go of many at once: of a quarter of the capacity, say.
    pub fn let_go(&mut self, count: usize) {
        let count = count.min(self.len());
        let len = self.len();
        for layer in &mut self.layers {
            K::let_go(layer, count, len);
        }
        self.len -= count as u32;
        self.let_go = self.let_go.saturating_add(count as u32);
    }

    pub(crate) const fn remembered(&self) -> Remembered {
        Remembered { tokens: self.len(), let_go: self.let_go as usize }
    }

    /// The layers' keys and values, and room for `count` more tokens.
    pub(crate) const fn room(&mut self, count: usize) -> Result<&mut [K::KeyValues<D_KV, CAPACITY>; LAYERS], TooLong> {
        match TooLong::check::<CAPACITY>(self.len().saturating_add(count)) {
            Ok(()) => Ok(&mut self.layers),
            Err(error) => Err(error),
        }
    }

    /// `count` more tokens are remembered.
    pub(crate) const fn grow(&mut self, count: usize) {
        self.len += count as u32;
    }
}

/// A causal stack that can go on where it stopped: a [`Decoder`](crate::Decoder).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go on where it stopped",
    label = "a `Decoder` of width {D_MODEL} is wanted here"
)]
pub trait CachedLayer<const D_MODEL: usize>: Layer<D_MODEL> {
    /// What is remembered of up to `CAPACITY` tokens.
    type Cache<const CAPACITY: usize>: Past + Zero + FromZeros;
    /// Working memory for tokens that see up to `CAPACITY`, `TILE` of them at a time.
    type StepScratch<const CAPACITY: usize, const TILE: usize>: Zero + FromZeros;

    /// Replaces the tokens `x`, which come after those in `cache`, by the output; the cache remembers them too.
    ///
    /// A prompt at once, then token by token, gives what all tokens at once would, bit for bit.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the cache has no room for them; then nothing is changed.
    fn extend<const SEQ_LEN: usize, const CAPACITY: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, Self::Stream>,
        cache: &mut Self::Cache<CAPACITY>,
        scratch: &mut Self::StepScratch<CAPACITY, TILE>,
    ) -> Result<(), TooLong>;
}

/// What a cache of any size can be asked: the methods of [`Cache`].
pub trait Past {
    /// Number of tokens remembered.
    fn len(&self) -> usize;

    /// Whether no token is remembered.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position of the next token.
    fn position(&self) -> usize;

    /// Forgets all but the first `len` of the tokens remembered.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are fewer than `len`; then nothing is changed.
    fn rewind(&mut self, len: usize) -> Result<(), TooLong>;
}

impl<const LAYERS: usize, const D_KV: usize, const CAPACITY: usize, K: KeyValueFormat> Past
    for Cache<LAYERS, D_KV, CAPACITY, K>
{
    fn len(&self) -> usize {
        self.len()
    }

    fn position(&self) -> usize {
        self.position()
    }

    fn rewind(&mut self, len: usize) -> Result<(), TooLong> {
        self.rewind(len)
    }
}
