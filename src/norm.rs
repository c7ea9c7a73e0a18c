//! Normalisation of tokens.

use crate::{
    bias::{Bias, Nothing, WithBias},
    machine::{Integers, Machine, Work, dispatch},
    math::{self, Function, fixed},
    number::Number,
    parameters,
    parameters::Parameters,
};
use core::marker::PhantomData;
use typenum::{U5, U6, Unsigned};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A normalisation of tokens of `D_MODEL` features.
pub trait Norm<const D_MODEL: usize>: Parameters {
    /// Whether it is an RMSNorm and not a LayerNorm, and ε; `None` for any other. The laws that it is tested for, and the
    /// `config.json` that it is compared with, follow from it.
    const RMS_AND_EPSILON: Option<(bool, f32)> = None;

    /// Replaces every token by its normalisation.
    fn forward(&self, tokens: &mut [[f32; D_MODEL]]);

    /// As [`forward`](Self::forward), of fixed-point numbers, for models that are [`IntegerOnly`](crate::IntegerOnly): see
    /// [`math::fixed`](crate::math::fixed). By way of `f32` unless it is written otherwise.
    fn forward_fixed(&self, tokens: &mut [[i32; D_MODEL]]) {
        f32::update_fixed(tokens, |_, tokens| self.forward(tokens));
    }
}

/// A [`Norm`] that can be trained.
#[diagnostic::on_unimplemented(
    message = "the norm `{Self}` has no gradient, so what it is a part of cannot be trained",
    label = "a norm such as `LayerNorm` is wanted here, or an implementation of `TrainableNorm`"
)]
pub trait TrainableNorm<const D_MODEL: usize>: Norm<D_MODEL> {
    /// `dy`, the gradients of the normalised tokens, become those of the tokens `x` themselves; that of the parameters is added to
    /// `gradient`.
    fn backward(&self, x: &[[f32; D_MODEL]], dy: &mut [[f32; D_MODEL]], gradient: &mut Self);
}

/// The E of ε = 10⁻ᴱ: a number of `typenum`, such as `U5`, `U6`, `U12`.
pub trait Exponent: Unsigned + Send + Sync + 'static {}

impl<E: Unsigned + Send + Sync + 'static> Exponent for E {}

/// 10⁻ᴱ
const fn epsilon<E: Exponent>() -> f32 {
    epsilon_of(E::U32)
}

/// [`epsilon`] by value.
pub(crate) const fn epsilon_of(exponent: u32) -> f32 {
    assert!(exponent <= 16, "an epsilon of 10^-16 is the least");
    math::power_of_ten(-(exponent as f64)) as f32
}

/// y = γ ⊙ (x - E\[x\]) / √(Var\[x\] + ε) + β, for every token x alone
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token |
/// | E\[x\], Var\[x\] | 1 | mean and (biased) variance of the features of that token |
/// | γ | `D_MODEL` | [`weight`](Self::weight) |
/// | β | `D_MODEL` | [`bias`](Self::bias), absent with [`NoBias`](crate::NoBias) |
/// | ε | 1 | 10⁻ᴱ, [`EPSILON`](Self::EPSILON); `E` is a number of `typenum`, 5 by default as in PyTorch |
///
/// Unlike batch normalisation it knows no other token and no running mean, so it is the same in training and inference and
/// for any length and batch. Ba, Kiros & Hinton, [Layer Normalization](https://arxiv.org/abs/1607.06450), 2016.
/// PyTorch: `nn.LayerNorm(D_MODEL, eps)`.
///
/// ```
/// use constformer::{LayerNorm, Norm};
///
/// let mut tokens = [[1.0, 3.0], [-2.0, 2.0]];
/// LayerNorm::<2>::ONE.forward(&mut tokens);
/// assert!(tokens.iter().all(|[a, b]| (a + 1.0).abs() < 1e-5 && (b - 1.0).abs() < 1e-5));
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LayerNorm<const D_MODEL: usize, E: Exponent = U5, B: Bias = WithBias> {
    /// γ
    pub weight: [f32; D_MODEL],
    /// β
    pub bias: B::Vector<D_MODEL>,
    epsilon: PhantomData<E>,
}

parameters! {
    [const D_MODEL: usize, E: Exponent, B: Bias] LayerNorm<D_MODEL, E, B> { weight, bias, epsilon }
    structure: |fingerprint| fingerprint.name("layer norm").number(E::USIZE);
}

impl<const D_MODEL: usize, E: Exponent, B: Bias> LayerNorm<D_MODEL, E, B> {
    /// ε
    pub const EPSILON: f32 = epsilon::<E>();

    /// γ = 1, β = 0: as a model starts.
    pub const ONE: Self =
        Self { weight: [1.0; D_MODEL], bias: <B::Vector<D_MODEL> as crate::Zero>::ZERO, epsilon: PhantomData };
}

impl<const D_MODEL: usize, E: Exponent, B: Bias> Norm<D_MODEL> for LayerNorm<D_MODEL, E, B> {
    const RMS_AND_EPSILON: Option<(bool, f32)> = Some((false, Self::EPSILON));

    fn forward(&self, tokens: &mut [[f32; D_MODEL]]) {
        dispatch(Normalize {
            tokens,
            weight: &self.weight,
            bias: &self.bias,
            epsilon: Self::EPSILON,
            kind: PhantomData::<(Centred, B)>,
        });
    }

    fn forward_fixed(&self, tokens: &mut [[i32; D_MODEL]]) {
        for token in tokens {
            let affine = self.weight.iter().enumerate().map(|(i, weight)| {
                let bias = B::add(Integers, &self.bias, i, 1, [0; 4]);
                (fixed::from_f32(*weight), bias[0])
            });
            fixed::normalize::<true, D_MODEL>(token, affine, Self::EPSILON);
        }
    }
}

/// ∂x = r (∂x̂ - E\[∂x̂\] - x̂ E\[∂x̂ ⊙ x̂\]), where x̂ = r (x - E\[x\]), r = 1 / √(Var\[x\] + ε) and ∂x̂ = γ ⊙ ∂y; ∂γ = Σ ∂y ⊙ x̂ and ∂β = Σ ∂y.
impl<const D_MODEL: usize, E: Exponent, B: Bias> TrainableNorm<D_MODEL> for LayerNorm<D_MODEL, E, B> {
    fn backward(&self, x: &[[f32; D_MODEL]], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        B::add_gradient(dy, &mut gradient.bias);
        let (weight, epsilon, kind) = (&self.weight, Self::EPSILON, PhantomData::<Centred>);
        dispatch(Backward { x, dy, weight, d_weight: &mut gradient.weight, epsilon, kind });
    }
}

/// y = γ ⊙ x / √(E\[x²\] + ε), for every token x alone
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token |
/// | γ | `D_MODEL` | [`weight`](Self::weight) |
/// | ε | 1 | 10⁻ᴱ, [`EPSILON`](Self::EPSILON); `E` is a number of `typenum`, 6 by default |
///
/// Zhang & Sennrich, [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467), 2019. PyTorch:
/// `nn.RMSNorm(D_MODEL, eps)`; its default ε, 2⁻²³, is no power of ten.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct RmsNorm<const D_MODEL: usize, E: Exponent = U6> {
    /// γ
    pub weight: [f32; D_MODEL],
    epsilon: PhantomData<E>,
}

parameters! {
    [const D_MODEL: usize, E: Exponent] RmsNorm<D_MODEL, E> { weight, epsilon }
    structure: |fingerprint| fingerprint.name("rms norm").number(E::USIZE);
}

impl<const D_MODEL: usize, E: Exponent> RmsNorm<D_MODEL, E> {
    /// ε
    pub const EPSILON: f32 = epsilon::<E>();

    /// γ = 1: as a model starts.
    pub const ONE: Self = Self { weight: [1.0; D_MODEL], epsilon: PhantomData };
}

impl<const D_MODEL: usize, E: Exponent> Norm<D_MODEL> for RmsNorm<D_MODEL, E> {
    const RMS_AND_EPSILON: Option<(bool, f32)> = Some((true, Self::EPSILON));

    fn forward(&self, tokens: &mut [[f32; D_MODEL]]) {
        dispatch(Normalize {
            tokens,
            weight: &self.weight,
            bias: &Nothing,
            epsilon: Self::EPSILON,
            kind: PhantomData::<(Uncentred, crate::NoBias)>,
        });
    }

    fn forward_fixed(&self, tokens: &mut [[i32; D_MODEL]]) {
        for token in tokens {
            let affine = self.weight.iter().map(|weight| (fixed::from_f32(*weight), 0));
            fixed::normalize::<false, D_MODEL>(token, affine, Self::EPSILON);
        }
    }
}

/// As that of [`LayerNorm`], without the mean: ∂x = r (∂x̂ - x̂ E\[∂x̂ ⊙ x̂\]).
impl<const D_MODEL: usize, E: Exponent> TrainableNorm<D_MODEL> for RmsNorm<D_MODEL, E> {
    fn backward(&self, x: &[[f32; D_MODEL]], dy: &mut [[f32; D_MODEL]], gradient: &mut Self) {
        let (weight, epsilon, kind) = (&self.weight, Self::EPSILON, PhantomData::<Uncentred>);
        dispatch(Backward { x, dy, weight, d_weight: &mut gradient.weight, epsilon, kind });
    }
}

/// y = x: what a Post-LN encoder has after its last block.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct NoNorm;

parameters! { [] NoNorm {} }

impl<const D_MODEL: usize> Norm<D_MODEL> for NoNorm {
    fn forward(&self, _: &mut [[f32; D_MODEL]]) {}

    fn forward_fixed(&self, _: &mut [[i32; D_MODEL]]) {}
}

impl<const D_MODEL: usize> TrainableNorm<D_MODEL> for NoNorm {
    fn backward(&self, _: &[[f32; D_MODEL]], _: &mut [[f32; D_MODEL]], _: &mut Self) {}
}

/// Whether the mean is taken off first.
trait Centre {
    const CENTRED: bool;
}

struct Centred;
struct Uncentred;

impl Centre for Centred {
    const CENTRED: bool = true;
}

impl Centre for Uncentred {
    const CENTRED: bool = false;
}

struct Normalize<'a, C, B: Bias, const D: usize> {
    tokens: &'a mut [[f32; D]],
    weight: &'a [f32; D],
    bias: &'a B::Vector<D>,
    epsilon: f32,
    kind: PhantomData<(C, B)>,
}

impl<C: Centre, B: Bias, const D: usize> Work for Normalize<'_, C, B, D> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for x in self.tokens {
            // The variance of what is centred: E[x²] - E[x]² would lose all digits of a token far from zero.
            let mean = if C::CENTRED { math::sum(m, x) / D as f32 } else { 0.0 };
            let scale = 1.0 / math::sqrt(math::square_of_distance(m, x, mean) / D as f32 + self.epsilon);
            math::map(m, x, &Affine::<B, D> { mean, scale, weight: self.weight, bias: self.bias });
        }
    }
}

struct Backward<'a, C, const D: usize> {
    x: &'a [[f32; D]],
    dy: &'a mut [[f32; D]],
    weight: &'a [f32; D],
    d_weight: &'a mut [f32; D],
    epsilon: f32,
    kind: PhantomData<C>,
}

impl<C: Centre, const D: usize> Work for Backward<'_, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        for (x, dy) in self.x.iter().zip(self.dy) {
            let mean = if C::CENTRED { math::sum(m, x) / D as f32 } else { 0.0 };
            let scale = 1.0 / math::sqrt(math::square_of_distance(m, x, mean) / D as f32 + self.epsilon);
            let (means, scales) = (m.splat(mean), m.splat(scale));
            let [mut sum, mut product] = [m.splat(0.0); 2];
            let parts = x.chunks(M::LANES).zip(dy.chunks_mut(M::LANES));
            for ((x, dy), (w, dw)) in parts.zip(self.weight.chunks(M::LANES).zip(self.d_weight.chunks_mut(M::LANES))) {
                let (normed, g) = (m.mul(m.sub(m.load(x), means), scales), m.load(dy));
                m.store(m.mul_add(g, normed, m.load(dw)), dw);
                let g = m.mul(g, m.load(w)); // 0 beyond the end of a token
                m.store(g, dy);
                (sum, product) = (m.add(sum, g), m.mul_add(g, normed, product));
            }
            let mean_of = |sum| m.splat(m.sum_lanes(sum) / D as f32);
            let (mean, product) = (if C::CENTRED { mean_of(sum) } else { m.splat(0.0) }, mean_of(product));
            for (x, dy) in x.chunks(M::LANES).zip(dy.chunks_mut(M::LANES)) {
                let normed = m.mul(m.sub(m.load(x), means), scales);
                let g = m.sub(m.sub(m.load(dy), mean), m.mul(normed, product));
                m.store(m.mul(g, scales), dy);
            }
        }
    }
}

struct Affine<'a, B: Bias, const D: usize> {
    mean: f32,
    scale: f32,
    weight: &'a [f32; D],
    bias: &'a B::Vector<D>,
}

impl<B: Bias, const D: usize> Function for Affine<'_, B, D> {
    #[inline(always)]
    fn apply<M: Machine>(&self, m: M, column: usize, x: M::Vector) -> M::Vector {
        let x = m.mul(m.sub(x, m.splat(self.mean)), m.splat(self.scale));
        match self.weight.get(column..column + M::LANES) {
            Some(weight) => B::add::<M, D>(m, self.bias, column, M::LANES, m.mul(x, m.load(weight))),
            // A token shorter than a vector.
            None => B::add::<M, D>(m, self.bias, 0, D, m.mul(x, m.load(self.weight))),
        }
    }
}
