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
