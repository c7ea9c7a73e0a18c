//! The nonlinearities of feed-forward layers.

use crate::{
    machine::{Machine, Single},
    math::{self, derivatives, fixed},
};

/// A nonlinearity, applied to every number alone. It is a type, and runs in the epilogue of the product before it.
///
/// One of your own:
///
/// ```
/// use constformer::{Activation, machine::Machine};
///
/// /// max(0, x)², of Primer.
/// #[derive(Clone, Copy)]
/// struct SquaredRelu;
///
/// impl Activation for SquaredRelu {
///     const NAME: &str = "squared relu";
///
///     fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector {
///         let x = m.max(m.splat(0.0), x);
///         m.mul(x, x)
///     }
/// }
/// ```
pub trait Activation: Copy + Send + Sync + 'static {
    /// What tells it from others in the fingerprint of a model: a name of its own.
    const NAME: &'static str;

    /// f(x); mark it `#[inline(always)]`.
    fn apply<M: Machine>(m: M, x: M::Vector) -> M::Vector;

    /// f(x) of a fixed-point number, for models that are [`IntegerOnly`](crate::IntegerOnly): see [`math::fixed`](crate::math::fixed). By way of
    /// `f32` unless it is written otherwise.
    #[must_use]
    fn apply_fixed(x: i32) -> i32 {
        fixed::from_f32(Self::apply(Single, fixed::to_f32(x)))
    }
}

/// An [`Activation`] whose derivative is known, so that layers with it can be trained.
#[diagnostic::on_unimplemented(
    message = "the activation `{Self}` has no derivative, so what it is a part of cannot be trained",
    label = "an implementation of `TrainableActivation` is wanted here"
)]
pub trait TrainableActivation: Activation {
    /// f'(x); mark it `#[inline(always)]`.
    fn derivative<M: Machine>(m: M, x: M::Vector) -> M::Vector;
}

macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident = $text:literal |$m:ident, $x:ident| $f:expr, $fixed:expr, $derivative:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Activation for $name {
            const NAME: &'static str = $text;

            #[inline(always)]
            fn apply<M: Machine>($m: M, $x: M::Vector) -> M::Vector {
                $f
            }

            #[inline(always)]
            fn apply_fixed($x: i32) -> i32 {
                $fixed
            }
        }

        impl TrainableActivation for $name {
            #[inline(always)]
            fn derivative<M: Machine>($m: M, $x: M::Vector) -> M::Vector {
                $derivative
            }
        }
    )* };
}

activations! {
    /// f(x) = x
    ///
    /// PyTorch: `nn.Identity`.
    Identity = "identity" |_m, x| x, x, derivatives::identity(_m, x);

    /// f(x) = max(0, x)
    ///
    /// Nair & Hinton, [Rectified Linear Units Improve Restricted Boltzmann Machines][paper], 2010. PyTorch: `nn.ReLU`. NaN
    /// stays NaN.
    ///
    /// [paper]: https://www.cs.toronto.edu/~hinton/absps/reluICML.pdf
    Relu = "relu" |m, x| m.max(m.splat(0.0), x), x.max(0), derivatives::relu(m, x);

    /// f(x) = x Φ(x) = x/2 (1 + erf(x/√2)), with an absolute error of at most 6e-7
    ///
    /// Φ is the distribution function of the normal distribution. Hendrycks & Gimpel,
    /// [Gaussian Error Linear Units](https://arxiv.org/abs/1606.08415), 2016. PyTorch: `nn.GELU()`.
    Gelu = "gelu" |m, x| math::gelu_erf(m, x), fixed::gelu(x), derivatives::gelu_erf(m, x);

    /// f(x) = x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), with an absolute error of at most 6e-7
    ///
    /// The same curve to 5e-4, but not the same function: a model trained with one is not the same with the other.
    /// Hendrycks & Gimpel, [Gaussian Error Linear Units](https://arxiv.org/abs/1606.08415), 2016. PyTorch:
    /// `nn.GELU(approximate="tanh")`; GPT-2: `gelu_new`.
    GeluTanh = "gelu tanh" |m, x| math::gelu_tanh(m, x), fixed::gelu_tanh(x), derivatives::gelu_tanh(m, x);

    /// f(x) = x / (1 + e⁻ˣ), with a relative error of at most 3e-7 for x ≥ -87, and 0 to 1e-35 below; also known as swish
    ///
    /// Elfwing, Uchibe & Doya, [Sigmoid-Weighted Linear Units](https://arxiv.org/abs/1702.03118), 2017. PyTorch: `nn.SiLU`.
    Silu = "silu" |m, x| math::silu(m, x), fixed::silu(x), derivatives::silu(m, x);
}
