//! The settings, and the order of the steps.

use super::{Rng, SamplingError, SettingError, draw, highest};
use crate::embedding::UnknownToken;

/// i ~ pᵢ = exp(xᵢ / T) / Σⱼ exp(xⱼ / T), where i and j are tokens that top-k and top-p keep
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | vocabulary | logits; a token that was seen has x / θ where x ≥ 0, θ x where x < 0 |
/// | θ | 1 | [`repetition_penalty`](Self::repetition_penalty), 1 unless set |
/// | T | 1 | [`temperature`](Self::temperature), 1 unless set |
/// | k | 1 | [`top_k`](Self::top_k): how many are kept at least; all unless set |
/// | P | 1 | [`top_p`](Self::top_p): how probable those kept are together; 1 unless set |
/// | i | 1 | the id that is drawn |
///
/// In this order: penalty, temperature, top-k, top-p. Hugging Face: the order of `generate(do_sample=True)`, and the same
/// tokens are kept by `RepetitionPenaltyLogitsProcessor`, `TemperatureLogitsWarper`, `TopKLogitsWarper` and
/// `TopPLogitsWarper`. The penalty is that of Keskar et al., [CTRL](https://arxiv.org/abs/1909.05858), 2019; top-k that of
/// Fan et al., [Hierarchical Neural Story Generation](https://arxiv.org/abs/1805.04833), 2018; top-p that of Holtzman et
/// al., [The Curious Case of Neural Text Degeneration](https://arxiv.org/abs/1904.09751), 2019.
///
/// Nothing is sorted and nothing is allocated: top-k and top-p are at most 32 passes over the logits each. Probabilities are
/// multiples of 2⁻³¹ of the largest one, so a token that is less probable than that is never drawn. What is drawn is a
/// function of the logits, the settings and the generator, the same on all machines.
///
/// ```
/// use constformer::sampling::Sampler;
/// use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
///
/// let sampler = Sampler::new().temperature(0.8)?.top_k(40)?.top_p(0.95)?.repetition_penalty(1.1)?;
/// let mut rng = SplitMix64::seed_from_u64(17);
///
/// let mut logits = [1.0, 2.0, -3.0, f32::NEG_INFINITY, 0.5]; // a model's, of a vocabulary of 5 tokens
/// let seen = [1, 2];
/// let id = sampler.sample(&mut logits, &seen, &mut rng)?;
/// assert!([0, 1, 2, 4].contains(&id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// 0 is greedy.
    temperature: f32,
    top_k: usize,
    top_p: f32,
    repetition_penalty: f32,
}

impl Sampler {
    /// Draws from the softmax of the logits.
    #[must_use]
    pub const fn new() -> Self {
        Self { temperature: 1.0, top_k: usize::MAX, top_p: 1.0, repetition_penalty: 1.0 }
    }

    /// Takes the token with the highest logit, the first one of equal ones: the limit of a temperature towards 0.
    ///
    /// Of the settings, only the penalty has an effect; a temperature ends it. Hugging Face: `do_sample=False`.
    #[must_use]
    pub const fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::new() }
    }

    /// T: below 1, probable tokens become more probable; above 1, less.
    ///
    /// # Errors
    ///
    /// [`SettingError::Temperature`] if it is not above 0 and finite. What others spell as a temperature of 0 is
    /// [`greedy`](Self::greedy).
    pub const fn temperature(self, temperature: f32) -> Result<Self, SettingError> {
        if temperature > 0.0 && temperature.is_finite() {
            Ok(Self { temperature, ..self })
        } else {
            Err(SettingError::Temperature { found: temperature })
        }
    }

    /// Keeps the k most probable tokens, and those as probable as the k-th.
    ///
    /// # Errors
    ///
    /// [`SettingError::TopK`] if it is 0.
    pub const fn top_k(self, top_k: usize) -> Result<Self, SettingError> {
        if top_k > 0 { Ok(Self { top_k, ..self }) } else { Err(SettingError::TopK { found: top_k }) }
    }

    /// Keeps the fewest most probable tokens whose probability is at least P, one at least. Of equally probable ones, those
    /// with higher ids come first. (So it is in Hugging Face where PyTorch's sort is stable, which depends on the
    /// processor.)
    ///
    /// # Errors
    ///
    /// [`SettingError::TopP`] if it is not above 0 and at most 1. A P of 0 is refused because it is greedy to some and no
    /// limit to others.
    pub const fn top_p(self, top_p: f32) -> Result<Self, SettingError> {
        if top_p > 0.0 && top_p <= 1.0 { Ok(Self { top_p, ..self }) } else { Err(SettingError::TopP { found: top_p }) }
    }

    /// θ: above 1, tokens that were seen become less probable; below 1, more.
    ///
    /// # Errors
    ///
    /// [`SettingError::RepetitionPenalty`] if it is not above 0 and finite.
    pub const fn repetition_penalty(self, repetition_penalty: f32) -> Result<Self, SettingError> {
        if repetition_penalty > 0.0 && repetition_penalty.is_finite() {
            Ok(Self { repetition_penalty, ..self })
        } else {
            Err(SettingError::RepetitionPenalty { found: repetition_penalty })
        }
    }

    /// The id of the next token, drawn from `logits`, which are overwritten.
    ///
    /// `seen` are the tokens to penalize, the prompt and the text so far, in any order; the time they take is quadratic in
    /// their number, and none without a penalty. One `next_u64` is taken from `rng`, or nothing if the sampler is greedy.
    ///
    /// # Errors
    ///
    /// [`SamplingError`] if there are no logits, if one is NaN or +∞, if all are -∞, or if a token was seen that has no
    /// logit; then the logits are unchanged.
    pub fn sample(
        &self,
        logits: &mut [f32],
        seen: &[u32],
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<u32, SamplingError> {
        let (best, max) = self.penalize(logits, seen)?;
        if self.temperature == 0.0 {
            return Ok(best);
        }
        self.weigh(logits, max);
        Ok(draw::draw(logits, rng).unwrap_or(best))
    }

    /// `logits` become the probabilities p that [`sample`](Self::sample) draws with.
    ///
    /// # Errors
    ///
    /// Those of [`sample`](Self::sample).
    ///
    /// ```
    /// use constformer::sampling::Sampler;
    ///
    /// let mut logits = [1.0, 0.0, 1.0, -1.0];
    /// Sampler::new().top_k(2)?.probabilities(&mut logits, &[])?;
    /// assert_eq!(logits, [0.5, 0.0, 0.5, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn probabilities(&self, logits: &mut [f32], seen: &[u32]) -> Result<(), SamplingError> {
        let (best, max) = self.penalize(logits, seen)?;
        if self.temperature == 0.0 {
            (0..).zip(logits).for_each(|(id, x)| *x = if id == best { 1.0 } else { 0.0 });
        } else {
            self.weigh(logits, max);
            draw::normalize(logits);
        }
        Ok(())
    }

    /// Divides positive logits of tokens that were seen, and multiplies negative ones, once a token. Returns the first id of
    /// the highest logit, and that logit.
    fn penalize(&self, logits: &mut [f32], seen: &[u32]) -> Result<(u32, f32), SamplingError> {
        let before = highest(logits)?;
        let vocabulary = logits.len();
        if let Some(id) = seen.iter().find(|id| **id as usize >= vocabulary) {
            return Err(UnknownToken { id: *id, vocabulary }.into());
        }
        if self.repetition_penalty == 1.0 {
            return Ok(before);
        }
        for (i, id) in seen.iter().enumerate() {
            let again = seen.iter().take(i).any(|before| before == id);
            if let Some(x) = logits.get_mut(*id as usize).filter(|x| x.is_finite() && !again) {
                let y = if *x < 0.0 { *x * self.repetition_penalty } else { *x / self.repetition_penalty };
                *x = y.clamp(f32::MIN, f32::MAX); // or it could be masked, or infinite
            }
        }
        highest(logits)
    }

    /// Logits become weights: temperature, top-k, top-p.
    fn weigh(&self, logits: &mut [f32], max: f32) {
        draw::weigh(logits, max, self.temperature, self.top_k);
        if self.top_p < 1.0 {
            draw::keep_nucleus(logits, self.top_p);
        }
    }
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new()
    }
}
