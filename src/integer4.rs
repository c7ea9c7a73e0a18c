//! Numbers as integers of 4 bits: x ≈ s f q, with q of -7 to 7, a factor f of 0 to 255 for each group of 32 numbers, and a scale s for all.
//!
//! The factor is that of the number of the greatest magnitude of its group, f = ⌈max |x| / 7 s⌉, and the scale that of the greatest of all,
//! s = max |x| / 1785, so nothing is cut off. Two integers lie in a byte, the first in its lower half, in two's complement.

use crate::integer::{greatest_magnitude, nearest};

/// Numbers of a group.
pub(crate) const GROUP: usize = 32;
/// Inputs of a matrix, at most: so many products of -8, which an image may hold, 255 and 127 have a sum that fits 32 bits.
pub(crate) const MOST_INPUTS: usize = 8288;
/// The greatest magnitude of q.
const HIGHEST: f32 = 7.0;
/// The greatest f.
const GREATEST_FACTOR: f32 = 255.0;

/// Writes a row of numbers as integers; returns their scale.
pub(crate) fn quantize(
    numbers: &(impl Iterator<Item = f32> + Clone),
    columns: usize,
    factors: &mut [u8],
    integers: &mut [u8],
) -> f32 {
    let scale = greatest_magnitude(numbers.clone().take(columns)) * (1.0 / (HIGHEST * GREATEST_FACTOR));
    integers.fill(0);
    for (group, factor) in factors.iter_mut().enumerate() {
        let first = group * GROUP;
        let of_group = numbers.clone().take(columns).skip(first).take(GROUP);
        *factor = factor_of(greatest_magnitude(of_group.clone()), scale);
        let unit = scale * f32::from(*factor);
        for (column, x) in (first..).zip(of_group) {
            put(integers, column, nearest_of(x, unit));
        }
    }
    scale
}

/// The least factor for numbers of up to that magnitude; 0 of none, and of what is not a number.
fn factor_of(greatest_magnitude: f32, scale: f32) -> u8 {
    let factor = if scale > 0.0 { greatest_magnitude / (HIGHEST * scale) } else { 0.0 };
    let below = factor as u8; // to 255 at most
    // A rounding above 255 or a whole number is none.
    if factor > f32::from(below) * (1.0 + f32::EPSILON) { below.saturating_add(1) } else { below }
}

fn nearest_of(x: f32, unit: f32) -> i8 {
    let q = if unit > 0.0 { x / unit } else { 0.0 };
    nearest(q.clamp(-HIGHEST, HIGHEST)) as i8
}

/// Sets the number at `column`, as a multiple of what its group has.
pub(crate) fn set(scale: f32, factors: &[u8], integers: &mut [u8], column: usize, x: f32) {
    if let Some(factor) = factors.get(column / GROUP) {
        put(integers, column, nearest_of(x, scale * f32::from(*factor)));
    }
}

/// f q of the number at `column`.
pub(crate) fn get(factors: &[u8], integers: &[u8], column: usize) -> Option<i16> {
    let (factor, byte) = (factors.get(column / GROUP)?, integers.get(column / 2)?);
    Some(i16::from(*factor) * halves(*byte)[column % 2])
}

/// Both integers of a byte.
#[inline(always)]
const fn halves(byte: u8) -> [i16; 2] {
    let byte = byte.cast_signed() as i16;
    [byte << 12 >> 12, byte >> 4]
}

fn put(integers: &mut [u8], column: usize, q: i8) {
    if let Some(byte) = integers.get_mut(column / 2) {
        let half = q.cast_unsigned() & 15; // NaN may be any integer
        *byte = if column.is_multiple_of(2) { *byte & 0xf0 | half } else { *byte & 15 | half << 4 };
    }
}

/// f q of all numbers of a row.
#[cfg(not(constformer_dsp))]
#[inline(always)]
pub(crate) fn unpack(factors: &[u8], integers: &[u8], row: &mut [i16]) {
    let groups = row.chunks_mut(GROUP).zip(integers.chunks(GROUP / 2));
    for ((row, integers), factor) in groups.zip(factors) {
        let factor = i16::from(*factor);
        let (pairs, last) = row.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(integers) {
            *pair = halves(*byte).map(|q| factor * q);
        }
        if let ([last], Some(byte)) = (last, integers.last()) {
            *last = factor * halves(*byte)[0];
        }
    }
}
