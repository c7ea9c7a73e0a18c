//! What a masked language model is to predict.

use super::{IGNORE, WrongTargets};
use crate::sampling::Rng;
use core::ops::Range;

/// Which tokens of a text a masked language model is to find, and what stands in their place.
///
/// Every token that is an ordinary one is chosen with the probability [`rate`](Self::rate). Of those chosen, 80 % are replaced by the token
/// [`mask`](Self::mask), 10 % by a random ordinary token, and 10 % stay: for on texts where nothing is masked, the model is to work too.
/// The targets are the tokens chosen, as they were; all others are [`IGNORE`], and cost nothing.
///
/// Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2019, section 3.1. Hugging Face: `DataCollatorForLanguageModeling(mlm=True)`.
///
/// The objective of a causal language model needs no choice: of a text of n + 1 tokens, the first n are its inputs, and the last n its targets.
///
/// ```
/// use constformer::training::{IGNORE, Masking};
/// use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
///
/// // [CLS], [SEP] and [MASK] are 101, 102 and 103; words begin with 1000.
/// let masking = Masking { rate: 0.5, ..Masking::new(103, 1000..30_522) };
/// let text = [101, 2023, 2003, 1037, 3231, 102];
/// let (mut ids, mut targets) = (text, [0; 6]);
/// let count = masking.apply(&mut ids, &mut targets, &mut SplitMix64::seed_from_u64(2))?;
///
/// assert_eq!(count, targets.iter().filter(|target| **target != IGNORE).count());
/// assert_eq!((ids[0], targets[0]), (101, IGNORE));
/// for (id, (target, id_before)) in ids.iter().zip(targets.iter().zip(&text)) {
///     assert!(if *target == IGNORE { id == id_before } else { target == id_before });
/// }
/// # Ok::<(), constformer::training::WrongTargets>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Masking {
    /// The token that stands for one that is hidden.
    pub mask: u32,
    /// The tokens that may be hidden, and of which others are drawn: not those that begin, end or fill a text.
    pub ordinary: Range<u32>,
    /// How many of them are chosen: 0.15 by default.
    pub rate: f32,
}

impl Masking {
    /// That of BERT.
    #[must_use]
    pub const fn new(mask: u32, ordinary: Range<u32>) -> Self {
        Self { mask, ordinary, rate: 0.15 }
    }

    /// Hides tokens of `ids`, writes `targets`, and returns how many tokens have one: it may be none.
    ///
    /// # Errors
    ///
    /// [`WrongTargets`] if there is not a target for each id; then all is what it was.
    pub fn apply(
        &self,
        ids: &mut [u32],
        targets: &mut [u32],
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<usize, WrongTargets> {
        WrongTargets::check(ids.len(), targets.len())?;
        let mut count = 0;
        for (id, target) in ids.iter_mut().zip(targets) {
            *target = IGNORE;
            if !self.ordinary.contains(id) || share(rng) >= f64::from(self.rate) {
                continue;
            }
            *target = *id;
            count += 1;
            match share(rng) {
                ..0.8 => *id = self.mask,
                ..0.9 => *id = self.ordinary.start + (share(rng) * self.ordinary.len() as f64) as u32,
                _ => {}
            }
        }
        Ok(count)
    }
}

/// 0 or more, and below 1.
fn share(rng: &mut (impl Rng + ?Sized)) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
