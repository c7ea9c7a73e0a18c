//! Numbers as integers times a scale: x ≈ s q, with q of -127 to 127 or another such range.
//!
//! The scale is that of the number of the greatest magnitude, s = max |x| / 127, so zero is exactly 0 and nothing is cut off.

/// The greatest magnitude of an integer of 8 bits, of which -128 is not used.
pub(crate) const HIGHEST: f32 = 127.0;

/// max |x|; NaN if one is, and 0 of none.
#[inline(always)]
pub(crate) fn greatest_magnitude(x: impl Iterator<Item = f32>) -> f32 {
    // As integers, magnitudes are in the same order, and NaN is above all.
    f32::from_bits(x.fold(0, |max, x| max.max(x.to_bits() & 0x7fff_ffff)))
}

/// The scale of numbers of up to that magnitude, and by what they are to be multiplied to be integers of up to `highest`.
#[inline(always)]
pub(crate) fn scales(greatest_magnitude: f32, highest: f32) -> (f32, f32) {
    let inverse = if greatest_magnitude > 0.0 { highest / greatest_magnitude } else { 0.0 };
    (greatest_magnitude * (1.0 / highest), inverse)
}

/// The integer nearest to x, of two the even one; for magnitudes below 2¹⁵.
#[inline(always)]
pub(crate) const fn nearest(x: f32) -> i16 {
    // The sum is rounded to an integer, which its low bits hold.
    (x + 12_582_912.0).to_bits() as i16
}

/// Writes a row of numbers as integers; returns their scale.
pub(crate) fn quantize(numbers: impl Iterator<Item = f32> + Clone, integers: &mut [i8]) -> f32 {
    let (scale, inverse) = scales(greatest_magnitude(numbers.clone().take(integers.len())), HIGHEST);
    integers.iter_mut().zip(numbers).for_each(|(q, x)| *q = nearest(x * inverse) as i8);
    scale
}

/// The integer whose multiple of `scale` is nearest to x.
pub(crate) fn quantize_one(x: f32, scale: f32) -> i8 {
    let q = if scale > 0.0 { x / scale } else { 0.0 };
    nearest(q.clamp(-HIGHEST, HIGHEST)) as i8
}
