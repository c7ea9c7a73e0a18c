//! Laws of images, a model as a file.

use super::{Damaged, Law, holds};
use crate::{Parameters, image};
use proptest::test_runner::TestCaseError;
use std::{format, vec::Vec};

/// What is read is what was written, bit for bit
///
/// An image is the bytes of the model.
pub fn round_trip<M: Parameters>(model: &M) -> Law {
    let mut bytes = Vec::new();
    image::encode(model, |part| bytes.extend_from_slice(part));
    let room = Aligned::new(&bytes);
    let read = image::from_bytes::<M>(room.bytes())
        .map_err(|error| TestCaseError::fail(format!("what was written is refused: {error}")))?;
    let mut again = Vec::new();
    image::encode(read, |part| again.extend_from_slice(part));
    holds(again == bytes, || "what was read is written otherwise".into())?;
    let [mut written, mut found] = [Vec::new(), Vec::new()];
    model.for_each_tensor(|_, tensor| written.extend(tensor.row_major().map(f32::to_bits)));
    read.for_each_tensor(|_, tensor| found.extend(tensor.row_major().map(f32::to_bits)));
    holds(found == written, || "other numbers are read than were written".into())
}

/// An image that was cut off, lengthened, overwritten or has a flipped bit is refused, and a whole one is not; nothing panics
///
/// The header has the lengths and a CRC-32, which finds every flipped bit. 48 bytes of junk have the checksum of the rest by
/// chance once in 2³² times.
pub fn damaged<M: Parameters>(image: &Damaged<M>) -> Law {
    let (bytes, is_whole) = image.bytes();
    let room = Aligned::new(&bytes);
    let outcome = image::from_bytes::<M>(room.bytes());
    match outcome {
        Ok(_) => holds(is_whole, || "the damage is not noticed".into()),
        Err(error) => holds(!is_whole, || format!("a whole image is refused: {error}")),
    }
}

/// Bytes where a model may lie.
struct Aligned {
    room: Vec<u128>,
    len: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Self {
        let each = |some: &[u8]| {
            let mut all = [0; 16];
            all[..some.len()].copy_from_slice(some);
            u128::from_ne_bytes(all)
        };
        Self { room: bytes.chunks(16).map(each).collect(), len: bytes.len() }
    }

    fn bytes(&self) -> &[u8] {
        &zerocopy::IntoBytes::as_bytes(self.room.as_slice())[..self.len]
    }
}
