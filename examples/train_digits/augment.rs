//! Images that are a little different each time.

use constformer::sampling::Rng;
use rand_xoshiro::SplitMix64;
use std::f64::consts::TAU;

/// The noise of a pixel.
const NOISE: f64 = 0.05;

/// Half of the images are shifted by up to a pixel each way; all get some noise.
pub(crate) fn augmented(image: &[[f32; 8]; 8], rng: &mut SplitMix64) -> [[f32; 8]; 8] {
    let moves = rng.next_u64().is_multiple_of(2);
    let mut shift = || if moves { (rng.next_u64() % 3) as usize } else { 1 };
    let (down, right) = (shift(), shift()); // 1 is no shift
    let pixel = |y: usize, x: usize| {
        let row = (y + down).checked_sub(1).and_then(|y| image.get(y));
        row.and_then(|row| row.get((x + right).checked_sub(1)?)).copied().unwrap_or(0.0)
    };
    std::array::from_fn(|y| std::array::from_fn(|x| pixel(y, x) + (NOISE * normal(rng)) as f32))
}

/// A number of the normal distribution, by Box and Muller.
fn normal(rng: &mut SplitMix64) -> f64 {
    let mut share = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-2.0 * share().ln()).sqrt() * (TAU * share()).cos()
}
