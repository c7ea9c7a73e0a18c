//! Random numbers, and models made of them.

use constformer::{Parameters, Shape};

pub struct Random(pub u64);

impl Random {
    /// Of mean 0 and variance 1, uniform.
    pub fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12f32.sqrt()
    }

    pub fn tokens<const D: usize>(&mut self, len: usize) -> Vec<[f32; D]> {
        (0..len).map(|_| std::array::from_fn(|_| self.number())).collect()
    }

    /// Parameters that keep the variance of what passes through; none of them is its neutral value.
    pub fn fill(&mut self, model: &mut impl Parameters) {
        model.for_each_tensor_mut(|name, mut tensor| {
            let (mean, deviation) = match tensor.shape() {
                Shape::Matrix([_, inputs]) => (0.0, 1.0 / (inputs as f32).sqrt()),
                Shape::Vector(_) if name.to_string().ends_with("bias") => (0.0, 0.1),
                Shape::Vector(_) => (1.0, 0.1),
            };
            let mut next = || mean + deviation * self.number();
            if tensor.stored().is_empty() {
                let numbers: Vec<f32> = tensor.row_major().map(|_| next()).collect(); // to be quantised
                tensor.set_row_major(numbers.into_iter()).unwrap();
            } else {
                tensor.stored_mut().fill_with(next);
            }
        });
    }
}
