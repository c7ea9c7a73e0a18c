//! Feed-forward layers, position-wise.

use crate::{
    activation::{Activation, Identity},
    attention::rows,
    bias::{Bias, WithBias},
    format::Format,
    kernel::{Epilogue, Multiply, Store},
    linear::Linear,
    number::Number,
    observe::{Observer, Watch},
    parameters,
    parameters::Parameters,
    plain::Zero,
    sequence::Sequence,
    shape::{KnownWidth, Width},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

/// A feed-forward layer of `D_MODEL` to `D_MODEL` features by way of `D_FF`, the same for every token alone:
/// [`FeedForward`] or [`GatedFeedForward`]. (Its methods are the kernel's, so that there are no others; an
/// [`Activation`] of one's own is what makes another of them.)
///
/// Why it widens: one reading is that a token's features are looked up in it as in a memory, Geva et al.,
/// [Transformer Feed-Forward Layers Are Key-Value Memories](https://arxiv.org/abs/2012.14913), 2020.
pub trait PositionWise<const D_MODEL: usize, const D_FF: usize>: Parameters {
    /// What it computes with.
    type Number: Number;
    /// Multiplications and additions for one token.
    #[doc(hidden)]
    const MACS: u64;
    /// [`NAME`](Activation::NAME) of the activation.
    #[doc(hidden)]
    const ACTIVATION: &'static str;
    /// Whether the activation is that of a gate.
    #[doc(hidden)]
    const GATED: bool;

    /// Writes what lies between the two products, for the tokens `x`, to as many rows of `hidden`.
    #[doc(hidden)]
    fn widen(&self, x: &[[Self::Number; D_MODEL]], hidden: &mut [[Self::Number; D_FF]]);

    /// Shows the outputs of the linear maps before the activation; `hidden` is room for them.
    #[doc(hidden)]
    fn show<O: Observer>(
        &self,
        x: &[[Self::Number; D_MODEL]],
        hidden: &mut [[Self::Number; D_FF]],
        watch: &mut Watch<'_, O>,
    );

    /// Hands the image of the tokens to `then`.
    #[doc(hidden)]
    fn narrow(&self, hidden: &[[Self::Number; D_FF]], then: impl Epilogue<Self::Number>);

    /// Replaces every token by its image.
    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        scratch: &mut FeedForwardScratch<D_FF, TILE, Self::Number>,
    ) {
        let rows = rows::<TILE>(x.len());
        for x in x.tokens_mut().chunks_mut(rows) {
            Self::Number::update(x, |_, x| {
                let hidden = scratch.hidden(x.len());
                self.widen(x, hidden);
                self.narrow(hidden, Store::<D_MODEL, Identity, _>::to(x));
            });
        }
    }
}

/// Working memory of a feed-forward layer: `TILE` tokens between the two products.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct FeedForwardScratch<const D_FF: usize, const TILE: usize = { crate::TILE }, N: Number = f32> {
    hidden: [[N; D_FF]; TILE],
}

impl<const D_FF: usize, const TILE: usize, N: Number> FeedForwardScratch<D_FF, TILE, N> {
    /// Room for `rows` tokens, at most `TILE`.
    pub(crate) fn hidden(&mut self, rows: usize) -> &mut [[N; D_FF]] {
        self.hidden.get_mut(..rows).unwrap_or_default()
    }
}

impl<const D_FF: usize, const TILE: usize, N: Number> Zero for FeedForwardScratch<D_FF, TILE, N> {
    const ZERO: Self = Self { hidden: Zero::ZERO };
}

/// y = W₂ f(W₁ x + b₁) + b₂, for every token x alone
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token, before and after |
/// | W₁, b₁ | `D_FF` x `D_MODEL`, `D_FF` | [`inner`](Self::inner) |
/// | W₂, b₂ | `D_MODEL` x `D_FF`, `D_MODEL` | [`outer`](Self::outer) |
/// | f | | the activation `A` |
///
/// Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017, section 3.3. PyTorch: `linear1`,
/// `activation` and `linear2` of `nn.TransformerEncoderLayer`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FeedForward<const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format = f32, B: Bias = WithBias>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    /// W₁, b₁
    pub inner: Linear<D_MODEL, D_FF, T, B>,
    /// W₂, b₂
    pub outer: Linear<D_FF, D_MODEL, T, B>,
    activation: PhantomData<A>,
}

parameters! {
    [const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format, B: Bias] FeedForward<D_MODEL, D_FF, A, T, B> {
        inner, outer, activation
    }
    where { Width<D_MODEL>: KnownWidth, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("feed-forward").name(A::NAME);
}

impl<const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format, B: Bias> PositionWise<D_MODEL, D_FF>
    for FeedForward<D_MODEL, D_FF, A, T, B>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    type Number = T::Number;

    const MACS: u64 = 2 * (D_MODEL * D_FF) as u64;
    const ACTIVATION: &'static str = A::NAME;
    const GATED: bool = false;

    fn widen(&self, x: &[[T::Number; D_MODEL]], hidden: &mut [[T::Number; D_FF]]) {
        self.inner.multiply(x, Store::<D_FF, A, _>::to(hidden));
    }

    fn show<O: Observer>(
        &self,
        x: &[[T::Number; D_MODEL]],
        hidden: &mut [[T::Number; D_FF]],
        watch: &mut Watch<'_, O>,
    ) {
        self.inner.multiply(x, Store::<D_FF, Identity, _>::to(hidden));
        watch.field("inner").rows(hidden);
    }

    fn narrow(&self, hidden: &[[T::Number; D_FF]], then: impl Epilogue<T::Number>) {
        self.outer.multiply(hidden, then);
    }
}

/// y = W₂ (f(W_G x + b_G) ⊙ (W₁ x + b₁)) + b₂, for every token x alone
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token, before and after |
/// | W_G, b_G | `D_FF` x `D_MODEL`, `D_FF` | [`gate`](Self::gate) |
/// | W₁, b₁ | `D_FF` x `D_MODEL`, `D_FF` | [`inner`](Self::inner) |
/// | W₂, b₂ | `D_MODEL` x `D_FF`, `D_MODEL` | [`outer`](Self::outer) |
/// | f | | the activation `A`: [`Silu`](crate::Silu) makes it SwiGLU, [`Gelu`](crate::Gelu) GeGLU |
///
/// Shazeer, [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202), 2020. Llama's names: `gate_proj`, `up_proj`,
/// `down_proj`; PyTorch has no module for it.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct GatedFeedForward<const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format = f32, B: Bias = WithBias>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    /// W_G, b_G
    pub gate: Linear<D_MODEL, D_FF, T, B>,
    /// W₁, b₁
    pub inner: Linear<D_MODEL, D_FF, T, B>,
    /// W₂, b₂
    pub outer: Linear<D_FF, D_MODEL, T, B>,
    activation: PhantomData<A>,
}

parameters! {
    [const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format, B: Bias] GatedFeedForward<D_MODEL, D_FF, A, T, B> {
        gate, inner, outer, activation
    }
    where { Width<D_MODEL>: KnownWidth, Width<D_FF>: KnownWidth }
    structure: |fingerprint| fingerprint.name("gated feed-forward").name(A::NAME);
}

impl<const D_MODEL: usize, const D_FF: usize, A: Activation, T: Format, B: Bias> PositionWise<D_MODEL, D_FF>
    for GatedFeedForward<D_MODEL, D_FF, A, T, B>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    type Number = T::Number;

    const MACS: u64 = 3 * (D_MODEL * D_FF) as u64;
    const ACTIVATION: &'static str = A::NAME;
    const GATED: bool = true;

    fn widen(&self, x: &[[T::Number; D_MODEL]], hidden: &mut [[T::Number; D_FF]]) {
        self.gate.multiply(x, Store::<D_FF, A, _>::to(hidden));
        self.inner.multiply(x, Multiply(hidden));
    }

    fn show<O: Observer>(
        &self,
        x: &[[T::Number; D_MODEL]],
        hidden: &mut [[T::Number; D_FF]],
        watch: &mut Watch<'_, O>,
    ) {
        for (name, map) in [("gate", &self.gate), ("inner", &self.inner)] {
            map.multiply(x, Store::<D_FF, Identity, _>::to(hidden));
            watch.field(name).rows(hidden);
        }
    }

    fn narrow(&self, hidden: &[[T::Number; D_FF]], then: impl Epilogue<T::Number>) {
        self.outer.multiply(hidden, then);
    }
}
