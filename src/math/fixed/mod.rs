//! Softmax, activations and LayerNorm without a floating-point number, for processors without a unit for them.
//!
//! A number x is the integer nearest to 2¹⁶ x, in 32 bits: it has 16 bits after the point, of a resolution of 1.5e-5, and lies between
//! -32768 and 32768. All functions take and return such numbers, and have the same bits on every processor. Their errors, which are absolute
//! where nothing else is said, are tested (`tests/fixed.rs`).
//!
//! Kim et al., [I-BERT: Integer-only BERT Quantization](https://arxiv.org/abs/2101.01321), 2021, has polynomials of degree two for the same
//! functions, of an error of 2e-2 for GELU and 2e-3 for the exponential.
//!
//! ```
//! use constformer::math::fixed::{from_f32, gelu, softmax, to_f32};
//!
//! let mut scores = [1.0, 2.0, 4.0].map(from_f32);
//! softmax(&mut scores);
//! assert!((to_f32(scores[2]) - 0.84379).abs() < 1e-4);
//! assert!((to_f32(gelu(from_f32(-1.0))) + 0.158_66).abs() < 2e-4);
//! ```

#![expect(clippy::cast_possible_wrap, reason = "what is cast has 31 bits")]

mod activation;
mod norm;
mod softmax;

pub use activation::{gelu, gelu_tanh, silu};
pub use norm::layer_norm;
pub(crate) use norm::normalize;
pub use softmax::softmax;
pub(crate) use softmax::{LOG2_E, exponentials};

use crate::number::Factor;

/// Bits after the point.
const POINT: u32 = 16;

/// The fixed-point number nearest to `x`, by integer operations alone; the greatest or least one if that is not in range, 0 of a NaN.
#[must_use]
pub const fn from_f32(x: f32) -> i32 {
    let bits = x.to_bits();
    // The fraction has 23 bits after the point.
    let (fraction, down) = (bits & 0x007f_ffff | 0x0080_0000, 133 - (bits >> 23 & 0xff) as i32);
    let magnitude = match down {
        0..31 => (((fraction >> down) + 1) >> 1) as i32,
        31.. => 0,
        _ => return from_large(x),
    };
    if bits >> 31 == 1 { -magnitude } else { magnitude }
}

/// [`from_f32`] of what is 128 or more.
#[cold]
const fn from_large(x: f32) -> i32 {
    let bits = x.to_bits();
    let up = (bits >> 23 & 0xff) as i32 - 134;
    match (up, bits >> 31) {
        (121, _) if bits & 0x007f_ffff != 0 => 0,
        (8.., 0) => i32::MAX,
        (8.., _) => i32::MIN,
        (_, 0) => ((bits & 0x007f_ffff | 0x0080_0000) << up) as i32,
        _ => -(((bits & 0x007f_ffff | 0x0080_0000) << up) as i32),
    }
}

/// The floating-point number that a fixed-point number is, or is nearest to.
#[must_use]
pub const fn to_f32(x: i32) -> f32 {
    let magnitude = Factor::of(x.unsigned_abs()).shifted(-(POINT as i32)).to_f32();
    if x < 0 { -magnitude } else { magnitude }
}

/// a b, rounded down; the greatest or least number if that is not in range.
#[inline(always)]
pub(crate) const fn multiply(a: i32, b: i32) -> i32 {
    let product = (a as i64 * b as i64) >> POINT;
    if product as i32 as i64 == product {
        product as i32
    } else if product < 0 {
        i32::MIN
    } else {
        i32::MAX
    }
}
