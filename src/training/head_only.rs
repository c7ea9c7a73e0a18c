//! The head of a classifier alone is trained: what a device can learn by itself.

use super::{CrossEntropy, IGNORE, Loss, Pass, Sgd, TrainingError, clear};
use crate::{
    linear::Linear,
    parameters,
    shape::{KnownWidth, Width},
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A head of `CLASSES` classes for the vectors of a body that stays as it is, and its gradient
///
/// The body, a [`Classifier`](crate::Classifier), may lie in flash; its [`features`](crate::Classifier::features) are computed by
/// inference, and nothing of it is remembered. This is all that training needs in RAM besides.
///
/// ```
/// use constformer::{training::*, *};
///
/// type Digits = Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;
///
/// static BODY: Digits = Digits::ZERO; // in flash
/// let mut head = HeadOnly::<32, 3>::ZERO; // D_MODEL, and classes of its own
/// let mut memory = boxed::<Memory<Digits, 17, 4>>(); // that of inference
///
/// for (image, class) in [([[0.1; 4]; 16], 0), ([[0.9; 4]; 16], 2)] {
///     let features = BODY.features(&image, &mut memory)?;
///     head.backward(&features, class, Pass::new(1.0 / 2.0))?;
/// }
/// head.step(0.1);
/// let logits = head.forward(&BODY.features(&[[0.1; 4]; 16], &mut memory)?);
/// # Ok::<(), TrainingError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct HeadOnly<const D_MODEL: usize, const CLASSES: usize>
where
    Width<D_MODEL>: KnownWidth,
{
    /// W, b
    pub head: Linear<D_MODEL, CLASSES>,
    /// Their gradient, so far.
    pub gradient: Linear<D_MODEL, CLASSES>,
}

parameters! { [const D_MODEL: usize, const CLASSES: usize] HeadOnly<D_MODEL, CLASSES> { head, gradient }
    where { Width<D_MODEL>: KnownWidth }
    structure: |fingerprint| fingerprint.name("head only");
}

impl<const D_MODEL: usize, const CLASSES: usize> HeadOnly<D_MODEL, CLASSES>
where
    Width<D_MODEL>: KnownWidth,
{
    /// The logits.
    #[must_use]
    pub fn forward(&self, features: &[f32; D_MODEL]) -> [f32; CLASSES] {
        self.head.apply(features)
    }

    /// The loss of features whose class should be `target`; its gradient is added to what there is.
    ///
    /// # Errors
    ///
    /// [`TrainingError::UnknownTarget`] if there is no such class; then the gradient is what it was.
    pub fn backward(&mut self, features: &[f32; D_MODEL], target: u32, pass: Pass) -> Result<Loss, TrainingError> {
        CrossEntropy::check(&[target], CLASSES)?;
        let mut logits = [self.forward(features)];
        let sum = pass.loss.backward(&mut logits[0], target, pass.weight)?.into();
        self.head.add_gradient(core::slice::from_ref(features), &logits, &mut self.gradient);
        Ok(Loss { sum, count: usize::from(target != IGNORE) })
    }

    /// Improves the head by its gradient, which is 0 then.
    pub fn step(&mut self, learning_rate: f32) {
        Sgd::default().plain_step(&mut self.head, &self.gradient, learning_rate);
        clear(&mut self.gradient);
    }
}
