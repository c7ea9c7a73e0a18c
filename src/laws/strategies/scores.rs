//! Scores of a softmax.

use core::ops::RangeInclusive;
use proptest::{collection::vec, prop_oneof, sample::select, strategy::Strategy};
use std::vec::Vec;

/// Scores of a softmax, U(-16, 16).
pub fn scores(lengths: RangeInclusive<usize>) -> impl Strategy<Value = Vec<f32>> {
    vec(-16.0_f32..16.0, lengths)
}

/// Scores of a softmax among which are masked ones (-∞), equal ones, ± 10³⁰ and the largest and smallest numbers.
pub fn extreme_scores(lengths: RangeInclusive<usize>) -> impl Strategy<Value = Vec<f32>> {
    let extreme = [0.0, 1.0, -1.0, 1e30, -1e30, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, f32::NEG_INFINITY];
    // Not all of a row: its maximum would hide the rest.
    let masked = select(&[0.0, 1.0, 0.5, -1.0, f32::NEG_INFINITY][..]);
    prop_oneof![vec(select(extreme.to_vec()), lengths.clone()), vec(masked, lengths)]
}
