//! Inputs and parameters to test with.

use crate::{Boxed, Name, Parameters, Shape, Tensor, boxed, parameters::NumbersMut};
use core::{array, fmt, ops};
use proptest::{prelude::any, strategy::Strategy};
use std::{string::ToString, vec::Vec};

/// Numbers between -1 and 1: `SplitMix64`, so that a seed gives the same numbers everywhere.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn next(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn token<const D_MODEL: usize>(&mut self, mut feature: impl FnMut(f32) -> f32) -> [f32; D_MODEL] {
        array::from_fn(|_| feature(self.next()))
    }
}

/// Parameters of moderate size, as those of a model when it starts to learn, drawn from a seed
///
/// Matrices: U(-1, 1) / √(columns), so that a product is about as large as its input. Gains (vectors called `weight`):
/// 1 ± 0.2. Other vectors: ± 0.2, so that no bias goes unnoticed.
pub fn fill(model: &mut impl Parameters, seed: u64) {
    let mut numbers = Numbers(seed);
    model.for_each_tensor_mut(|name: &Name<'_>, mut tensor: Tensor<NumbersMut<'_>>| {
        let (centre, spread) = match tensor.shape() {
            Shape::Matrix([_, columns]) => (0.0, 1.0 / crate::math::sqrt(columns as f32)),
            Shape::Vector(_) if name.to_string().ends_with("weight") => (1.0, 0.2),
            Shape::Vector(_) => (0.0, 0.2),
        };
        let count = tensor.shape().dimensions().iter().product();
        let all: Vec<_> = (0..count).map(|_| centre + spread * numbers.next()).collect();
        tensor.set_all(all.into_iter());
    });
}

/// A model with parameters from a seed, as by [`fill`]; on the heap, however large it is.
#[must_use]
pub fn model<M: Parameters>(seed: u64) -> Boxed<M> {
    let mut model = boxed::<M>();
    fill(&mut *model, seed);
    model
}

/// A model with random parameters. In the report of a failure it is the seed that [`model`] takes.
pub struct Random<M> {
    seed: u64,
    model: Boxed<M>,
}

impl<M> fmt::Debug for Random<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model({:#x})", self.seed)
    }
}

impl<M> ops::Deref for Random<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.model
    }
}

impl<M> ops::DerefMut for Random<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.model
    }
}

/// Models with random parameters, as by [`fill`].
///
/// Nothing is shrunk but the tokens they are given: a seed is not simpler for being small.
pub fn models<M: Parameters>() -> impl Strategy<Value = Random<M>> {
    any::<u64>().no_shrink().prop_map(|seed| Random { seed, model: model(seed) })
}

/// Tokens of moderate size, U(-2, 2); how many shrinks, what is in them does not.
pub fn tokens<const D_MODEL: usize>(lengths: ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<[f32; D_MODEL]>> {
    (lengths, any::<u64>().no_shrink()).prop_map(|(len, seed)| {
        let mut numbers = Numbers(seed);
        (0..len).map(|_| numbers.token(|x| 2.0 * x)).collect()
    })
}

/// Tokens as they should not be, of one kind each: huge (10⁴), tiny (10⁻⁶), far from zero with little variance, all zeros,
/// all features equal, all features but one zero; and moderate ones.
pub fn extreme_tokens<const D_MODEL: usize>(
    lengths: ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Vec<[f32; D_MODEL]>> {
    (lengths, any::<u64>().no_shrink()).prop_map(|(len, seed)| {
        let mut numbers = Numbers(seed);
        let mut extreme = || match numbers.bits() % 7 {
            0 => numbers.token(|x| 1e4 * x),
            1 => numbers.token(|x| 1e-6 * x),
            2 => numbers.token(|x| 1e3 + x),
            3 => [0.0; D_MODEL],
            4 => [3.0 * numbers.next(); D_MODEL],
            5 => {
                let (place, height) = (numbers.bits() as usize % D_MODEL.max(1), 100.0 * numbers.next());
                array::from_fn(|i| if i == place { height } else { 0.0 })
            }
            _ => numbers.token(|x| 2.0 * x),
        };
        (0..len).map(|_| extreme()).collect()
    })
}

/// Scores of a softmax, U(-16, 16).
pub fn scores(lengths: ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<f32>> {
    proptest::collection::vec(-16.0_f32..16.0, lengths)
}

/// Scores of a softmax among which are masked ones (-∞), equal ones, ± 10³⁰ and the largest and smallest numbers.
pub fn extreme_scores(lengths: ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<f32>> {
    let extreme = [f32::NEG_INFINITY, 0.0, 1.0, 1e30, -1e30, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-30];
    // Not all of a row: its maximum would hide the rest.
    let masked = proptest::sample::select(&[f32::NEG_INFINITY, -1.0, 0.0, 0.5, 1.0][..]);
    proptest::prop_oneof![
        proptest::collection::vec(proptest::sample::select(extreme.to_vec()), lengths.clone()),
        proptest::collection::vec(masked, lengths),
    ]
}
