//! Learning rates by step.

use crate::math;

/// η rises linearly to its peak in the first steps, then falls to its end as half a cosine
///
/// Loshchilov & Hutter, [SGDR](https://arxiv.org/abs/1608.03983), 2016; GPT-3.
///
/// ```
/// use constformer::training::WarmUpCosine;
///
/// let schedule = WarmUpCosine { warm_up: 100, steps: 2000, peak: 1e-3, end: 1e-4 };
/// assert!(schedule.rate(0) < 1.1e-5 && schedule.rate(99) == 1e-3 && schedule.rate(2000) == 1e-4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUpCosine {
    /// Steps of the rise.
    pub warm_up: u32,
    /// Steps in all; after them, the rate stays what it is.
    pub steps: u32,
    /// The highest rate.
    pub peak: f32,
    /// The rate at the end.
    pub end: f32,
}

impl WarmUpCosine {
    /// η of a step, the first being 0.
    #[must_use]
    pub fn rate(&self, step: u32) -> f32 {
        let Self { warm_up, steps, peak, end } = *self;
        if step < warm_up {
            return peak * (step + 1) as f32 / warm_up as f32;
        }
        if step >= steps {
            return end;
        }
        let share = (step - warm_up) as f32 / (steps - warm_up) as f32;
        end + (peak - end) * 0.5 * (1.0 + math::cos(core::f32::consts::PI * share))
    }
}
