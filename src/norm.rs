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
    /// Whether it is an RMSNorm and not a LayerNorm, and ε; `None` for any other.
    #[doc(hidden)]
    const RMS_AND_EPSILON: Option<(bool, f32)> = None;

    /// Replaces every token by its normalisation.
    fn forward(&self, tokens: &mut [[f32; D_MODEL]]);

    /// As [`forward`](Self::forward), of fixed-point numbers, for models that are [`IntegerOnly`](crate::IntegerOnly): see
    /// [`math::fixed`](crate::math::fixed). By way of `f32` unless it is written otherwise.
    fn forward_fixed(&self, tokens: &mut [[i32; D_MODEL]]) {
        f32::update_fixed(tokens, |_, tokens| self.forward(tokens));
    }
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

/// y = x: what a Post-LN encoder has after its last block.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct NoNorm;

parameters! { [] NoNorm {} }

impl<const D_MODEL: usize> Norm<D_MODEL> for NoNorm {
    fn forward(&self, _: &mut [[f32; D_MODEL]]) {}

    fn forward_fixed(&self, _: &mut [[i32; D_MODEL]]) {}
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
