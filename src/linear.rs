//! Linear maps.

use crate::{
    bias::{Bias, WithBias},
    format::{Format, Matrix, TrainableFormat},
    kernel::{self, Epilogue, Export},
    number::Number,
    parameters,
    sequence::Sequence,
    shape::{KnownWidth, Width},
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = W x + b, for every token x alone
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | `IN` | a token |
/// | W | `OUT` x `IN` | [`weight`](Self::weight), in the order of the format `T` |
/// | b | `OUT` | [`bias`](Self::bias), absent with [`NoBias`](crate::NoBias) |
/// | y | `OUT` | a token |
///
/// PyTorch: `nn.Linear(IN, OUT)`, whose `weight` is W row by row.
///
/// ```
/// use constformer::{Linear, Sequence, Zero};
///
/// let mut linear = Linear::<3, 2>::ZERO;
/// linear.weight.copy_from_out_in(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// linear.bias = [10.0, 20.0];
/// assert_eq!(linear.apply(&[1.0, 0.0, -1.0]), [8.0, 18.0]);
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Linear<const IN: usize, const OUT: usize, T: Format = f32, B: Bias = WithBias>
where
    Width<IN>: KnownWidth,
{
    /// W
    pub weight: T::Matrix<IN, OUT>,
    /// b
    pub bias: B::Vector<OUT>,
}

parameters! { [const IN: usize, const OUT: usize, T: Format, B: Bias] Linear<IN, OUT, T, B> { weight, bias }
    where { Width<IN>: KnownWidth }
}

impl<const IN: usize, const OUT: usize, T: Format, B: Bias> Linear<IN, OUT, T, B>
where
    Width<IN>: KnownWidth,
{
    /// `y` becomes the image of `x`, token by token.
    pub fn forward<const SEQ_LEN: usize>(&self, x: &Sequence<IN, SEQ_LEN>, y: &mut Sequence<OUT, SEQ_LEN>) {
        y.match_len(x);
        self.export(x.tokens(), y.tokens_mut());
    }

    /// y for one token: a classifier's head.
    #[must_use]
    pub fn apply(&self, x: &[f32; IN]) -> [f32; OUT] {
        let mut y = [[0.0; OUT]];
        self.export(core::slice::from_ref(x), &mut y);
        let [y] = y;
        y
    }

    /// As [`apply`](Self::apply), of a token as it is computed with.
    pub(crate) fn apply_to(&self, x: &[T::Number; IN]) -> [f32; OUT] {
        let mut y = [[0.0; OUT]];
        self.multiply(core::slice::from_ref(x), Export { out: &mut y, first: 0 });
        let [y] = y;
        y
    }

    /// `out` becomes the image of `x`, token by token.
    pub(crate) fn export(&self, x: &[[f32; IN]], out: &mut [[f32; OUT]]) {
        T::Number::read(x, |first, x| self.multiply(x, Export { out: &mut *out, first }));
    }

    /// ∂x = ∂x + Wᵀ ∂y, given the gradients of the images of the tokens `x`; and to `gradient` is added that of W, Σ ∂y xᵀ, and of b,
    /// Σ ∂y. There are as many `dy` and `dx` as `x`.
    pub fn backward(
        &self,
        x: &[[f32; IN]],
        dy: &[[f32; OUT]],
        dx: &mut [[f32; IN]],
        gradient: &mut Linear<IN, OUT, T::Gradient, B>,
    ) where
        T: TrainableFormat,
    {
        T::add_backward(&self.weight, dy, dx);
        self.add_gradient(x, dy, gradient);
    }

    /// As [`backward`](Self::backward), of a map whose inputs are no function of any parameter.
    pub fn add_gradient(&self, x: &[[f32; IN]], dy: &[[f32; OUT]], gradient: &mut Linear<IN, OUT, T::Gradient, B>)
    where
        T: TrainableFormat,
    {
        T::add_gradient(&self.weight, x, dy, &mut gradient.weight);
        B::add_gradient(dy, &mut gradient.bias);
    }

    /// Hands W x + b to `then`.
    pub(crate) fn multiply(&self, x: &[[T::Number; IN]], then: impl Epilogue<T::Number>) {
        self.weight.multiply(x, kernel::Bias::<_, B, OUT> { bias: &self.bias, then });
    }
}
