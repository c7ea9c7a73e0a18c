//! From a model to bytes.

use super::{ALIGNMENT, BYTE_ORDER, CRC, FORMAT, HEADER, MAGIC, VERSION, start_of_weights};
use crate::parameters::{Parameters, Walk};
use core::fmt::{self, Write};

/// Hands the image of `model` to `write`, piece by piece; needs no heap and no file system.
pub fn encode<M: Parameters>(model: &M, write: impl FnMut(&[u8])) {
    const { assert!(M::SIZE == size_of::<M>(), "the type has padding between its parts, so it has no image") };
    encode_any(model, write);
}

/// [`encode`] for a model of a type or of none.
pub(crate) fn encode_any(model: &impl Walk, mut write: impl FnMut(&[u8])) {
    let mut digest = CRC.digest();
    parts(model, 0, |part, is_checksum| {
        if !is_checksum {
            digest.update(part);
        }
    });
    parts(model, digest.finalize(), |part, _| write(part));
}

/// The parts of an image in order, and whether each is the checksum.
fn parts(model: &impl Walk, checksum: u32, mut write: impl FnMut(&[u8], bool)) {
    let description = model.description();
    let mut length = Length(0);
    let _ = write!(length, "{description}"); // cannot fail: it only counts
    let Length(length) = length;

    write(&MAGIC, false);
    write(&BYTE_ORDER.to_le_bytes(), false);
    write(&VERSION.to_le_bytes(), false);
    write(&FORMAT.to_le_bytes(), false);
    write(&model.fingerprint().0.to_le_bytes(), false);
    write(&model.bytes().to_le_bytes(), false);
    write(&(length as u32).to_le_bytes(), false);
    write(&checksum.to_le_bytes(), true);
    let _ = write!(Text(|text: &str| write(text.as_bytes(), false)), "{description}");
    write(&[0; ALIGNMENT][..start_of_weights(length as u32) as usize - HEADER - length], false);
    model.tensors(&mut |_, tensor| {
        tensor.numbers().to_bytes(|bytes| write(bytes, false));
    });
}

struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

struct Text<W>(W);

impl<W: FnMut(&str)> Write for Text<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        (self.0)(text);
        Ok(())
    }
}
