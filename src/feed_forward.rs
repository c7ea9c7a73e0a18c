//! Feed-forward layers, position-wise.

use crate::{
    activation::{Activation, Identity, TrainableActivation},
    bias::{Bias, WithBias},
    dropout::Dropout,
    format::{Format, TrainableFormat},
    kernel::{Epilogue, Multiply, Store},
    linear::Linear,
    machine::{Machine, Work, dispatch},
    number::Number,
    observe::{Observer, Watch},
    parameters,
    parameters::Parameters,
    plain::Zero,
    sequence::Sequence,
    shape::{KnownWidth, Width},
    tile::rows,
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

/// A [`PositionWise`] layer that can be trained.
#[diagnostic::on_unimplemented(
    message = "the feed-forward layer `{Self}` has no gradient, so what it is a part of cannot be trained",
    label = "its activation and its format must be trainable"
)]
pub trait TrainablePositionWise<const D_MODEL: usize, const D_FF: usize>:
    PositionWise<D_MODEL, D_FF, Number = f32>
{
    /// The gradient: for weights of `f32`, a value of the same type.
    type Gradient: Parameters;
    /// Working memory of the way back, for `TILE` tokens.
    type GradientScratch<const TILE: usize>: Zero + FromZeros;

    /// To `dx` is added the gradient of `x`, given that of the output, `dy`; to `gradient` that of the parameters. Numbers of what lies
    /// between the products are dropped as on the way forward, row 0 being that of the token `first`.
    #[doc(hidden)]
    fn backward<const TILE: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        dy: &[[f32; D_MODEL]],
        dx: &mut [[f32; D_MODEL]],
        scratch: &mut Self::GradientScratch<TILE>,
        dropped: (Dropout, usize),
        gradient: &mut Self::Gradient,
    );

    /// Room for what lies between the products on the way forward.
    #[doc(hidden)]
    fn hidden<const TILE: usize>(scratch: &mut Self::GradientScratch<TILE>) -> &mut [[f32; D_FF]; TILE];
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

impl<const D_MODEL: usize, const D_FF: usize, A: TrainableActivation, T: TrainableFormat, B: Bias>
    TrainablePositionWise<D_MODEL, D_FF> for FeedForward<D_MODEL, D_FF, A, T, B>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    type Gradient = FeedForward<D_MODEL, D_FF, A, T::Gradient, B>;
    type GradientScratch<const TILE: usize> = [[[f32; D_FF]; TILE]; 2];

    /// With h = W₁ x + b₁ and a = f(h): ∂a = W₂ᵀ ∂y, ∂h = f'(h) ⊙ ∂a.
    fn backward<const TILE: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        dy: &[[f32; D_MODEL]],
        dx: &mut [[f32; D_MODEL]],
        [hidden, d_hidden]: &mut [[[f32; D_FF]; TILE]; 2],
        (dropout, first): (Dropout, usize),
        gradient: &mut Self::Gradient,
    ) {
        let [hidden, d_hidden] = [hidden, d_hidden].map(|rows| rows.get_mut(..x.len()).unwrap_or_default());
        self.inner.multiply(x, Store::<D_FF, Identity>::to(hidden));
        d_hidden.fill([0.0; D_FF]);
        T::add_backward(&self.outer.weight, dy, d_hidden);
        let activation = PhantomData::<A>;
        dispatch(Activate { x: hidden.as_flattened_mut(), d: d_hidden.as_flattened_mut(), activation });
        dropout.apply(hidden, first);
        dropout.apply(d_hidden, first);
        self.outer.add_gradient(hidden, dy, &mut gradient.outer);
        self.inner.backward(x, d_hidden, dx, &mut gradient.inner);
    }

    fn hidden<const TILE: usize>([hidden, _]: &mut [[[f32; D_FF]; TILE]; 2]) -> &mut [[f32; D_FF]; TILE] {
        hidden
    }
}

/// x becomes f(x), and d becomes f'(x) d.
struct Activate<'a, A> {
    x: &'a mut [f32],
    d: &'a mut [f32],
    activation: PhantomData<A>,
}

impl<A: TrainableActivation> Work for Activate<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for (x, d) in self.x.chunks_mut(M::LANES).zip(self.d.chunks_mut(M::LANES)) {
            let input = m.load(x);
            m.store(A::apply(m, input), x);
            m.store(m.mul(A::derivative(m, input), m.load(d)), d);
        }
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

impl<const D_MODEL: usize, const D_FF: usize, A: TrainableActivation, T: TrainableFormat, B: Bias>
    TrainablePositionWise<D_MODEL, D_FF> for GatedFeedForward<D_MODEL, D_FF, A, T, B>
where
    Width<D_MODEL>: KnownWidth,
    Width<D_FF>: KnownWidth,
{
    type Gradient = GatedFeedForward<D_MODEL, D_FF, A, T::Gradient, B>;
    type GradientScratch<const TILE: usize> = [[[f32; D_FF]; TILE]; 3];

    /// With g = W_G x + b_G, h = W₁ x + b₁ and a = f(g) ⊙ h: ∂a = W₂ᵀ ∂y, ∂h = f(g) ⊙ ∂a, ∂g = f'(g) ⊙ h ⊙ ∂a.
    fn backward<const TILE: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        dy: &[[f32; D_MODEL]],
        dx: &mut [[f32; D_MODEL]],
        [gate, inner, d_gate]: &mut [[[f32; D_FF]; TILE]; 3],
        (dropout, first): (Dropout, usize),
        gradient: &mut Self::Gradient,
    ) {
        let [gate, inner, d_gate] = [gate, inner, d_gate].map(|rows| rows.get_mut(..x.len()).unwrap_or_default());
        self.gate.multiply(x, Store::<D_FF, Identity>::to(gate));
        self.inner.multiply(x, Store::<D_FF, Identity>::to(inner));
        d_gate.fill([0.0; D_FF]);
        T::add_backward(&self.outer.weight, dy, d_gate);
        dropout.apply(d_gate, first);
        dispatch(OpenGate {
            gate: gate.as_flattened_mut(),
            inner: inner.as_flattened_mut(),
            d: d_gate.as_flattened_mut(),
            activation: PhantomData::<A>,
        });
        let (hidden, d_inner) = (gate, inner);
        dropout.apply(hidden, first);
        self.outer.add_gradient(hidden, dy, &mut gradient.outer);
        self.inner.backward(x, d_inner, dx, &mut gradient.inner);
        self.gate.backward(x, d_gate, dx, &mut gradient.gate);
    }

    fn hidden<const TILE: usize>([hidden, ..]: &mut [[[f32; D_FF]; TILE]; 3]) -> &mut [[f32; D_FF]; TILE] {
        hidden
    }
}

/// With g, h and ∂a: g becomes f(g) ⊙ h, h becomes f(g) ⊙ ∂a, and ∂a becomes f'(g) ⊙ h ⊙ ∂a.
struct OpenGate<'a, A> {
    gate: &'a mut [f32],
    inner: &'a mut [f32],
    d: &'a mut [f32],
    activation: PhantomData<A>,
}

impl<A: TrainableActivation> Work for OpenGate<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let parts = self.gate.chunks_mut(M::LANES).zip(self.inner.chunks_mut(M::LANES));
        for ((gate, inner), d) in parts.zip(self.d.chunks_mut(M::LANES)) {
            let (g, h, da) = (m.load(gate), m.load(inner), m.load(d));
            let open = A::apply(m, g);
            m.store(m.mul(open, h), gate);
            m.store(m.mul(open, da), inner);
            m.store(m.mul(m.mul(A::derivative(m, g), h), da), d);
        }
    }
}
