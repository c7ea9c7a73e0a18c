//! From logits to a token: greedy, temperature, top-k, top-p, repetition penalty.
//!
//! [`Sampler`] is a value of a few numbers. It works where the logits lie, without a heap and without sorting. Chance comes
//! from a generator of the caller, by the trait [`Rng`] of [`rand_core`], so that a seed makes a text again.

mod draw;
mod error;
mod order;
mod sampler;

pub use error::{SamplingError, SettingError};
pub use rand_core::{self, Rng};
pub use sampler::Sampler;

use crate::sequence::Empty;

/// arg maxᵢ xᵢ, the first one of equal ones
///
/// A logit of -∞ is masked. PyTorch: `torch.argmax(logits)`, which leaves open which one of equal ones; Hugging Face:
/// `do_sample=False`.
///
/// # Errors
///
/// [`SamplingError`] if there are no logits, if one is NaN or +∞, or if all are masked.
///
/// ```
/// use constformer::sampling::{SamplingError, argmax};
///
/// assert_eq!(argmax(&[0.5, 2.0, -1.0, 2.0]), Ok(1));
/// assert_eq!(argmax(&[0.5, f32::NAN]), Err(SamplingError::NotANumber { id: 1 }));
/// ```
pub fn argmax(logits: &[f32]) -> Result<u32, SamplingError> {
    highest(logits).map(|(id, _)| id)
}

/// The first id of the highest logit, and that logit, which is a finite number.
fn highest(logits: &[f32]) -> Result<(u32, f32), SamplingError> {
    if logits.is_empty() {
        return Err(SamplingError::Empty(Empty));
    }
    let mut highest = (0, f32::NEG_INFINITY);
    for (id, logit) in (0..).zip(logits) {
        if *logit > highest.1 {
            highest = (id, *logit);
        } else if logit.is_nan() {
            return Err(SamplingError::NotANumber { id });
        }
    }
    match highest {
        (_, f32::NEG_INFINITY) => Err(SamplingError::Masked),
        (id, f32::INFINITY) => Err(SamplingError::Infinite { id }),
        finite => Ok(finite),
    }
}
