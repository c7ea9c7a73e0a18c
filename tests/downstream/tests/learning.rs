//! The model of the crate learns to tell two gestures from one another, in memory that is a static.

mod common;

use common::gestures;
use constformer::{Sequence, training::Pass};
use downstream::{AXES, LEARNING, SEQ_LEN};

/// A rising series, or a falling one.
fn series(gesture: u32) -> Sequence<AXES, SEQ_LEN> {
    let mut series = Sequence::new();
    for p in 0..SEQ_LEN {
        let slope = if gesture == 0 { 1.0 } else { -1.0 };
        series.push(&std::array::from_fn(|axis| slope * p as f32 / 16.0 + (p * axis % 5) as f32 / 10.0)).unwrap();
    }
    series
}

#[test]
fn a_model_of_ones_own_learns() {
    let (learning, mut model) = (LEARNING.take(), gestures());
    let mut losses = vec![];
    for _ in 0..60 {
        let mut loss = 0.0;
        for gesture in 0..2 {
            loss += learning.backward(&model, &series(gesture), gesture, Pass::new(0.5)).unwrap();
        }
        learning.step(&mut model, 0.1);
        losses.push(loss / 2.0);
    }
    assert!(losses[59] < 0.1 * losses[0], "{losses:?}");
    assert!(learning.backward(&model, &series(0), 5, Pass::new(0.5)).is_err(), "there are five gestures");
    assert!(learning.backward(&model, &Sequence::new(), 0, Pass::new(0.5)).is_err());
}
