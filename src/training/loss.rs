//! What a model is to make small.

use crate::{
    embedding::UnknownToken,
    machine::{Machine, Work, dispatch},
    math,
};
use core::{error::Error, fmt, ops::AddAssign};

/// The target of a token that is not to count. PyTorch: `ignore_index`.
pub const IGNORE: u32 = u32::MAX;

/// -Σᵢ qᵢ log pᵢ, where p = softmax(x) and q is 1 - ε at the target, and ε / n more at each of the n classes
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | n | logits |
/// | ε | 1 | label smoothing, 0 by default |
///
/// The gradient of x is p - q. Szegedy et al., [Rethinking the Inception Architecture](https://arxiv.org/abs/1512.00567), 2015. PyTorch:
/// `nn.CrossEntropyLoss(label_smoothing=ε, ignore_index=IGNORE)`.
///
/// ```
/// use constformer::training::CrossEntropy;
///
/// let mut logits = [1.0, 1.0, 1.0, 1.0];
/// let loss = CrossEntropy::new().backward(&mut logits, 2, 1.0)?;
/// assert!((loss - 4f32.ln()).abs() < 1e-6);
/// assert_eq!(logits, [0.25, 0.25, -0.75, 0.25]); // now the gradient
/// # Ok::<(), constformer::UnknownToken>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropy {
    smoothing: f32,
}

impl CrossEntropy {
    /// Without label smoothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { smoothing: 0.0 }
    }

    /// With label smoothing.
    ///
    /// # Errors
    ///
    /// [`WrongSmoothing`] if it is not 0 to 1.
    pub const fn label_smoothing(self, smoothing: f32) -> Result<Self, WrongSmoothing> {
        if smoothing >= 0.0 && smoothing <= 1.0 {
            Ok(Self { smoothing })
        } else {
            Err(WrongSmoothing { found: smoothing })
        }
    }

    /// The loss of a token's `logits`, which become `weight` times their gradients. Of a target to be ignored both are 0.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the target has no logit; then `logits` are what they were.
    pub fn backward(self, logits: &mut [f32], target: u32, weight: f32) -> Result<f32, UnknownToken> {
        if target == IGNORE {
            logits.fill(0.0);
            return Ok(0.0);
        }
        let vocabulary = logits.len();
        let at_target = *logits.get(target as usize).ok_or(UnknownToken { id: target, vocabulary })?;
        let loss = dispatch(Backward { logits, at_target, weight, smoothing: self.smoothing });
        if let Some(logit) = logits.get_mut(target as usize) {
            *logit -= weight * (1.0 - self.smoothing);
        }
        Ok(loss)
    }

    /// Whether a model of `vocabulary` logits has one for each target.
    pub(super) fn check(targets: &[u32], vocabulary: usize) -> Result<(), UnknownToken> {
        match targets.iter().find(|target| **target != IGNORE && **target as usize >= vocabulary) {
            Some(id) => Err(UnknownToken { id: *id, vocabulary }),
            None => Ok(()),
        }
    }
}

/// Logits become `weight` (p - ε / n); the loss is returned.
struct Backward<'a> {
    logits: &'a mut [f32],
    at_target: f32,
    weight: f32,
    smoothing: f32,
}

impl Work for Backward<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f32 {
        let Self { logits, at_target, weight, smoothing } = self;
        let part = smoothing / logits.len() as f32;
        let max = math::max(m, logits);
        let mean = if smoothing > 0.0 { part * math::sum(m, logits) } else { 0.0 };
        let scale = math::softmax_row(m, logits, 1.0);
        let (factor, term) = (m.splat(weight * scale), m.splat(-weight * part));
        for x in logits.chunks_mut(M::LANES) {
            m.store(m.mul_add(m.load(x), factor, term), x);
        }
        max - libm::logf(scale) - (1.0 - smoothing) * at_target - mean
    }
}

/// Σᵢ (yᵢ - tᵢ)² / n; `y` becomes `weight` times its gradient, 2 (y - t) / n. PyTorch: `nn.MSELoss()`
///
/// ```
/// let mut y = [1.0, 5.0];
/// assert_eq!(constformer::training::mean_squared_error(&mut y, &[2.0, 2.0], 1.0), 5.0);
/// assert_eq!(y, [-1.0, 3.0]);
/// ```
pub fn mean_squared_error<const N: usize>(y: &mut [f32; N], target: &[f32; N], weight: f32) -> f32 {
    let mut sum = 0.0;
    for (y, target) in y.iter_mut().zip(target) {
        let difference = *y - target;
        sum += difference * difference;
        *y = weight * 2.0 / N as f32 * difference;
    }
    sum / N as f32
}

/// The loss of some targets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Of all of them.
    pub sum: f64,
    /// How many there were, without those that were ignored.
    pub count: usize,
}

impl Loss {
    /// Of one target.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.sum / self.count as f64
    }
}

impl AddAssign for Loss {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// A label smoothing is not 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WrongSmoothing {
    /// The smoothing.
    pub found: f32,
}

impl fmt::Display for WrongSmoothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a label smoothing of 0 to 1 expected, found {}", self.found)
    }
}

impl Error for WrongSmoothing {}
