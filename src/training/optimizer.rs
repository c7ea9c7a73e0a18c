//! From gradients to better parameters.

use crate::{
    machine::{Machine, Work, dispatch},
    math,
    message::Message,
    parameters,
    parameters::{Numbers, NumbersMut, Parameters, Shape, Tensor},
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// mₜ = β₁ mₜ₋₁ + (1 - β₁) g, vₜ = β₂ vₜ₋₁ + (1 - β₂) g², w = (1 - η λ) w - η m̂ / (√v̂ + ε), with m̂ = mₜ / (1 - β₁ᵗ) and v̂ = vₜ / (1 - β₂ᵗ)
///
/// | symbol | is |
/// |---|---|
/// | w, g | a parameter, its gradient |
/// | m, v | its [`Moments`] |
/// | t | how many steps those have seen, this one included |
/// | η | the learning rate of this step |
/// | β₁, β₂, ε | [`beta1`](Self::beta1), [`beta2`](Self::beta2), [`epsilon`](Self::epsilon) |
/// | λ | [`weight_decay`](Self::weight_decay) of matrices; 0 of vectors, which are norms and biases |
///
/// Loshchilov & Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101), 2017. PyTorch: `optim.AdamW` with two
/// groups of parameters.
///
/// ```
/// use constformer::{Linear, Zero, training::{AdamW, Moments}};
///
/// let mut model = Linear::<1, 1>::ZERO;
/// let mut moments = Moments::<Linear<1, 1>>::ZERO;
/// let mut gradient = Linear::<1, 1>::ZERO;
/// gradient.bias = [4.0];
/// AdamW::default().step(&mut model, &gradient, &mut moments, 0.01);
/// assert!((model.bias[0] + 0.01).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW {
    /// β₁: how slowly the mean of gradients follows them.
    pub beta1: f32,
    /// β₂: how slowly the mean of their squares does.
    pub beta2: f32,
    /// ε
    pub epsilon: f32,
    /// λ
    pub weight_decay: f32,
}

/// Those of PyTorch.
impl Default for AdamW {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 }
    }
}

/// The running means of gradients of type `G` and of their squares: what [`AdamW`] remembers, twice as much as a model.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Moments<G: Parameters> {
    first: G,
    second: G,
    /// How many steps have been made, in two numbers of 16 bits: `f32` is what parameters are, and has 24.
    steps: [f32; 2],
}

parameters! { [G: Parameters] Moments<G> { first, second, steps } structure: |fingerprint| fingerprint.name("moments"); }

impl<G: Parameters> Moments<G> {
    /// How many steps have been made with them.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        let [low, high] = self.steps;
        (high as u32) << 16 | low as u32
    }

    /// Counts one more.
    fn count(&mut self) -> u32 {
        let steps = self.steps().saturating_add(1);
        self.steps = [(steps & 0xffff) as f32, (steps >> 16) as f32];
        steps
    }
}

impl AdamW {
    /// Improves `model`, given a gradient of its loss and a learning rate.
    pub fn step<M: Parameters, G: Parameters>(
        &self,
        model: &mut M,
        gradient: &G,
        moments: &mut Moments<G>,
        learning_rate: f32,
    ) {
        const { assert_gradient::<M, G>() };
        let steps = moments.count();
        let Moments { first, second, .. } = moments;
        let unbiased = |beta: f32| 1.0 - libm::pow(beta.into(), f64::from(steps));
        let rate = f64::from(learning_rate) / unbiased(self.beta1);
        let scale = 1.0 / libm::sqrt(unbiased(self.beta2));
        update(model, gradient, |n, decays, w, g| {
            dispatch(Adam {
                w,
                g,
                m: nth_mut(first, n),
                v: nth_mut(second, n),
                betas: [self.beta1, self.beta2],
                rate: rate as f32,
                scale: scale as f32,
                epsilon: self.epsilon,
                keep: if decays { 1.0 - learning_rate * self.weight_decay } else { 1.0 },
            });
        });
    }
}

struct Adam<'a> {
    w: &'a mut [f32],
    g: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    betas: [f32; 2],
    /// η / (1 - β₁ᵗ)
    rate: f32,
    /// 1 / √(1 - β₂ᵗ)
    scale: f32,
    epsilon: f32,
    /// 1 - η λ
    keep: f32,
}

impl Work for Adam<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let Self { w, g, m, v, betas: [beta1, beta2], rate, scale, epsilon, keep } = self;
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            *m += (1.0 - beta1) * (g - *m);
            *v = beta2 * *v + (1.0 - beta2) * g * g;
            *w = keep * *w - rate * *m / (math::sqrt(*v) * scale + epsilon);
        }
    }
}

/// vₜ = μ vₜ₋₁ + g + λ w, w = w - η vₜ: stochastic gradient descent with momentum
///
/// | symbol | is |
/// |---|---|
/// | w, g | a parameter, its gradient |
/// | v | its velocity, 0 at first |
/// | η | the learning rate of this step |
/// | μ | [`momentum`](Self::momentum) |
/// | λ | [`weight_decay`](Self::weight_decay) of matrices; 0 of vectors, which are norms and biases |
///
/// PyTorch: `optim.SGD` with two groups of parameters. Without momentum, on a device that has no room for a velocity:
/// [`plain_step`](Self::plain_step).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sgd {
    /// μ
    pub momentum: f32,
    /// λ
    pub weight_decay: f32,
}

impl Sgd {
    /// Improves `model`, given a gradient of its loss and a learning rate.
    pub fn step<M: Parameters, G: Parameters>(
        &self,
        model: &mut M,
        gradient: &G,
        velocity: &mut G,
        learning_rate: f32,
    ) {
        const { assert_gradient::<M, G>() };
        update(model, gradient, |n, decays, w, g| {
            let decay = if decays { self.weight_decay } else { 0.0 };
            for ((w, g), v) in w.iter_mut().zip(g).zip(nth_mut(velocity, n)) {
                *v = self.momentum * *v + g + decay * *w;
                *w -= learning_rate * *v;
            }
        });
    }

    /// As [`step`](Self::step) without momentum, which needs no memory.
    pub fn plain_step<M: Parameters, G: Parameters>(&self, model: &mut M, gradient: &G, learning_rate: f32) {
        const { assert_gradient::<M, G>() };
        update(model, gradient, |_, decays, w, g| {
            let decay = if decays { self.weight_decay } else { 0.0 };
            w.iter_mut().zip(g).for_each(|(w, g)| *w -= learning_rate * (g + decay * *w));
        });
    }
}

/// All numbers of a gradient become 0.
pub fn clear<G: Parameters>(gradient: &mut G) {
    gradient.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill(0.0));
}

/// Adds `other` to a gradient: what several threads have found, each for its part of a batch.
pub fn accumulate<G: Parameters>(gradient: &mut G, other: &G) {
    update(gradient, other, |_, _, g, other| g.iter_mut().zip(other).for_each(|(g, other)| *g += other));
}

/// a = κ a + (1 - κ) w: an average of a model's parameters over the steps, which is often better than the last ones. PyTorch:
/// `optim.swa_utils.get_ema_multi_avg_fn(κ)`.
pub fn move_average<M: Parameters>(average: &mut M, model: &M, keep: f32) {
    update(average, model, |_, _, a, w| a.iter_mut().zip(w).for_each(|(a, w)| *a += (1.0 - keep) * (w - *a)));
}

/// The norm of all numbers of a gradient together, √Σ g².
#[must_use]
pub fn norm<G: Parameters>(gradient: &G) -> f32 {
    let mut sum = 0.0;
    gradient.for_each_tensor(|_, tensor| {
        // Of few numbers in `f32`, of those sums in `f64`: a sum of millions in `f32` loses digits.
        sum += tensor.stored().chunks(1024).map(|part| f64::from(dispatch(Squares(part)))).sum::<f64>();
    });
    libm::sqrt(sum) as f32
}

/// Scales a gradient down to a norm of `max`, if its [`norm`] is greater. Returns the norm that it had. PyTorch:
/// `nn.utils.clip_grad_norm_`.
pub fn clip_norm<G: Parameters>(gradient: &mut G, max: f32) -> f32 {
    let norm = norm(gradient);
    let scale = max / (norm + 1e-6);
    if scale < 1.0 {
        gradient.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().iter_mut().for_each(|g| *g *= scale));
    }
    norm
}

/// Σ x²
struct Squares<'a>(&'a [f32]);

impl Work for Squares<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f32 {
        math::square_of_distance(m, self.0, 0.0)
    }
}

/// Hands each tensor of `model` with that of `gradient` to `f`, and which it is, and whether weight decay is for it.
fn update<M: Parameters, G: Parameters>(
    model: &mut M,
    gradient: &G,
    mut f: impl FnMut(usize, bool, &mut [f32], &[f32]),
) {
    let mut n = 0;
    model.for_each_tensor_mut(|_, mut tensor| {
        if tensor.frozen {
            return; // and has no gradient
        }
        let decays = matches!(tensor.shape(), Shape::Matrix(_));
        f(n, decays, tensor.stored_mut(), nth(gradient, n));
        n += 1;
    });
}

/// The `n`th tensor. Two walks cannot go side by side without a heap, so one is taken anew for each tensor of the other.
pub(super) fn nth_tensor<P: Parameters>(parameters: &P, n: usize) -> Option<Tensor<Numbers<'_>>> {
    let (mut i, mut found) = (0, None);
    parameters.for_each_tensor(|_, tensor| {
        if i == n {
            found = Some(tensor);
        }
        i += 1;
    });
    found
}

/// The numbers of the `n`th tensor.
fn nth<P: Parameters>(parameters: &P, n: usize) -> &[f32] {
    match nth_tensor(parameters, n).map(|tensor| tensor.numbers) {
        Some(Numbers::F32(numbers)) => numbers,
        _ => &[],
    }
}

/// As [`nth`], to be changed.
fn nth_mut<P: Parameters>(parameters: &mut P, n: usize) -> &mut [f32] {
    let (mut i, mut found) = (0, Default::default());
    parameters.for_each_tensor_mut(|_, tensor| {
        if let (true, NumbersMut::F32(numbers)) = (i == n, tensor.numbers) {
            found = numbers;
        }
        i += 1;
    });
    found
}

/// Refuses to compile gradients of another model, and models of integers.
const fn assert_gradient<M: Parameters, G: Parameters>() {
    if size_of::<M>() != M::COUNT * size_of::<f32>() {
        let text = "the weights of this model are not all `f32`, so it cannot be trained: train one of `f32`, then quantise it";
        Message::new().text(text).panic();
    }
    if M::STRUCTURE.0 != G::STRUCTURE.0 {
        Message::new()
            .text("this is not the gradient of this model, but of another: structures ")
            .hexadecimal(M::STRUCTURE.0)
            .text(" and ")
            .hexadecimal(G::STRUCTURE.0)
            .panic();
    }
}
