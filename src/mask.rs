//! Which tokens a token attends to, named by what is visible.

/// What the token at a position sees: [`Bidirectional`] or [`Causal`].
pub trait Mask: Copy + Send + Sync + 'static {
    /// Whether a token sees itself and the tokens before it, and no others.
    const CAUSAL: bool;
}

/// How many of `len` tokens, from the first on, the token at `position` sees.
pub(crate) const fn visible<M: Mask>(position: usize, len: usize) -> usize {
    if M::CAUSAL && position < len { position + 1 } else { len }
}

/// Every token sees all tokens: an encoder.
#[derive(Clone, Copy, Debug)]
pub struct Bidirectional;

/// A token sees itself and the tokens before it: a decoder. PyTorch: `is_causal=True`.
///
/// The weight of a token that is not seen is 0, and as in PyTorch 0 times NaN is NaN: a later token that is not finite can
/// reach an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct Causal;

impl Mask for Bidirectional {
    const CAUSAL: bool = false;
}

impl Mask for Causal {
    const CAUSAL: bool = true;
}
