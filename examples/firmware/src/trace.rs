//! All bits of a forward pass, in one number.

use constformer::{Name, Observer};

/// FNV-1a over the bits of all activations, 32 at a time.
#[derive(Debug)]
pub struct Trace {
    /// The hash so far.
    pub hash: u32,
    /// Numbers seen.
    pub count: u32,
}

impl Trace {
    /// Nothing seen.
    pub const EMPTY: Self = Self { hash: 0x811c_9dc5, count: 0 };

    /// Adds `values`.
    pub fn add(&mut self, values: &[f32]) {
        for value in values {
            self.hash = (self.hash ^ value.to_bits()).wrapping_mul(0x0100_0193);
            self.count = self.count.wrapping_add(1);
        }
    }
}

impl Observer for Trace {
    fn see(&mut self, _: &Name<'_>, _: usize, values: &[f32]) {
        self.add(values);
    }
}
