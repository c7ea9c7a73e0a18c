//! Pseudo-random numbers that a seed fixes.

use core::array;

/// Numbers between -1 and 1: `SplitMix64`, so that a seed gives the same numbers everywhere.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn next(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(super) fn token<const D_MODEL: usize>(&mut self, mut feature: impl FnMut(f32) -> f32) -> [f32; D_MODEL] {
        array::from_fn(|_| feature(self.next()))
    }
}
