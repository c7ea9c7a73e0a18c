//! The numbers of a tensor, in their format.

use zerocopy::IntoBytes;

/// The numbers of a tensor as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// As they are.
    F32(&'a [f32]),
    /// Integers, row by row; times the scale of its row, each is a number.
    Int8 {
        /// One for each row.
        scales: &'a [f32],
        /// As many as the shape says.
        integers: &'a [i8],
    },
    /// Integers of 4 bits, row by row; times the factor of its group of 32 and the scale of its row, each is a number.
    Int4 {
        /// One for each row.
        scales: &'a [f32],
        /// One for every 32 columns of each row.
        factors: &'a [u8],
        /// As many as the shape says, two a byte, the first in the lower half, in two's complement; each row begins with a byte.
        integers: &'a [u8],
    },
}

/// [`Numbers`], to be changed.
#[derive(Debug)]
pub enum NumbersMut<'a> {
    /// As they are.
    F32(&'a mut [f32]),
    /// Integers, row by row; times the scale of its row, each is a number.
    Int8 {
        /// One for each row.
        scales: &'a mut [f32],
        /// As many as the shape says.
        integers: &'a mut [i8],
    },
    /// Integers of 4 bits: see [`Numbers::Int4`].
    Int4 {
        /// One for each row.
        scales: &'a mut [f32],
        /// One for every 32 columns of each row.
        factors: &'a mut [u8],
        /// As many as the shape says, two a byte.
        integers: &'a mut [u8],
    },
}

impl<'a> From<&'a [f32]> for Numbers<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Self::F32(numbers)
    }
}

impl<'a> From<&'a mut [f32]> for NumbersMut<'a> {
    fn from(numbers: &'a mut [f32]) -> Self {
        Self::F32(numbers)
    }
}

/// [`Numbers`] or [`NumbersMut`].
pub trait AsNumbers {
    /// To be read.
    fn as_numbers(&self) -> Numbers<'_>;
}

impl AsNumbers for Numbers<'_> {
    fn as_numbers(&self) -> Numbers<'_> {
        *self
    }
}

impl AsNumbers for NumbersMut<'_> {
    fn as_numbers(&self) -> Numbers<'_> {
        match self {
            Self::F32(numbers) => Numbers::F32(numbers),
            Self::Int8 { scales, integers } => Numbers::Int8 { scales, integers },
            Self::Int4 { scales, factors, integers } => Numbers::Int4 { scales, factors, integers },
        }
    }
}

impl Numbers<'_> {
    /// Hands on the bytes that they lie in, little-endian.
    pub(crate) fn to_bytes(self, mut write: impl FnMut(&[u8])) {
        match self {
            Self::F32(numbers) => numbers.iter().for_each(|number| write(&number.to_le_bytes())),
            Self::Int8 { scales, integers } => {
                scales.iter().for_each(|scale| write(&scale.to_le_bytes()));
                write(integers.as_bytes());
                write(&[0; 3][..padding(integers.len())]);
            }
            Self::Int4 { scales, factors, integers } => {
                scales.iter().for_each(|scale| write(&scale.to_le_bytes()));
                write(factors);
                write(integers);
                write(&[0; 3][..padding(factors.len() + integers.len())]);
            }
        }
    }
}

impl NumbersMut<'_> {
    /// Takes the bytes that they lie in from `bytes`.
    #[cfg(feature = "std")]
    pub(crate) fn copy_from_bytes(self, bytes: &mut &[u8]) {
        match self {
            Self::F32(numbers) => copy_f32s(numbers, bytes),
            Self::Int8 { scales, integers } => {
                copy_f32s(scales, bytes);
                let (found, rest) = bytes.split_at_checked(integers.len()).unwrap_or_default();
                integers.iter_mut().zip(found).for_each(|(q, byte)| *q = byte.cast_signed());
                *bytes = rest.get(padding(integers.len())..).unwrap_or_default();
            }
            Self::Int4 { scales, factors, integers } => {
                copy_f32s(scales, bytes);
                let padding = padding(factors.len() + integers.len());
                for part in [factors, integers] {
                    let (found, rest) = bytes.split_at_checked(part.len()).unwrap_or_default();
                    part.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
                    *bytes = rest;
                }
                *bytes = bytes.get(padding..).unwrap_or_default();
            }
        }
    }
}

#[cfg(feature = "std")]
fn copy_f32s(numbers: &mut [f32], bytes: &mut &[u8]) {
    let (found, rest) = bytes.split_at_checked(size_of_val(numbers)).unwrap_or_default();
    numbers.iter_mut().zip(found.as_chunks().0).for_each(|(number, bytes)| *number = f32::from_le_bytes(*bytes));
    *bytes = rest;
}

/// Bytes after integers, up to the next number of 32 bits.
const fn padding(integers: usize) -> usize {
    integers.next_multiple_of(4) - integers
}
