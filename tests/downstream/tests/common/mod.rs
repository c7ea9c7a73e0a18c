//! A model to test with.

use constformer::{Parameters, Zero};
use downstream::Gestures;

/// Weights that anybody can write down again: no two neighbours are the same.
pub fn gestures() -> Gestures {
    let mut model = Gestures::ZERO;
    let mut i = 0;
    model.for_each_tensor_mut(|name, mut tensor| {
        let is_gain = name.to_string().ends_with("norm.weight");
        for number in tensor.stored_mut() {
            i = (i * 5 + 3) % 257; // a cycle of 257 steps or a divisor of it
            *number = if is_gain { 1.0 } else { (i as f32 - 128.0) / 512.0 };
        }
    });
    model
}
