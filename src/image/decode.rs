//! From bytes to a model, at compile time and at run time.

use super::{BYTE_ORDER, CHECKSUM, CRC, FORMAT, HEADER, ImageError, MAGIC, VERSION, start_of_weights};
use crate::{
    message::Message,
    parameters::{Fingerprint, Parameters},
};

/// What the header of an image says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info<'a> {
    /// The fingerprint of the model's type.
    pub fingerprint: Fingerprint,
    /// The model's type in Rust, for people.
    pub description: &'a str,
    /// The bytes of the weights.
    pub weights: &'a [u8],
    checksum: u32,
}

impl<'a> Info<'a> {
    /// Reads the header of an image of any model; the checksum is not looked at.
    ///
    /// # Errors
    ///
    /// [`ImageError`] if it is no image, or one of another byte order, version, format or length.
    pub const fn parse(image: &'a [u8]) -> Result<Self, ImageError> {
        let Some(magic) = image.first_chunk() else {
            return Err(ImageError::NotAnImage);
        };
        if u64::from_le_bytes(*magic) != u64::from_le_bytes(MAGIC) {
            return Err(ImageError::NotAnImage);
        }
        let Some(header) = image.first_chunk::<HEADER>() else {
            return Err(length(HEADER as u64, image));
        };
        let byte_order = u16::from_le_bytes(take(header, 8));
        if byte_order != BYTE_ORDER || cfg!(target_endian = "big") {
            return Err(ImageError::ByteOrder);
        }
        let version = u16::from_le_bytes(take(header, 10));
        if version != VERSION {
            return Err(ImageError::Version { expected: VERSION, found: version });
        }
        let format = u32::from_le_bytes(take(header, 12));
        if format != FORMAT {
            return Err(ImageError::Format { expected: FORMAT, found: format });
        }
        let weights = u64::from_le_bytes(take(header, 24));
        let description = u32::from_le_bytes(take(header, 32));
        let expected = start_of_weights(description).saturating_add(weights);
        if expected != image.len() as u64 {
            return Err(length(expected, image));
        }
        // No more than the length of the image, by what has just been compared, so they fit a `usize` too.
        let (before, weights) = image.split_at(start_of_weights(description) as usize);
        let description = before.split_at(HEADER).1.split_at(description as usize).0;
        Ok(Self {
            fingerprint: Fingerprint(u64::from_le_bytes(take(header, 16))),
            description: match core::str::from_utf8(description) {
                Ok(text) => text,
                Err(_) => "a description that is not text",
            },
            weights,
            checksum: u32::from_le_bytes(take(header, CHECKSUM.start)),
        })
    }
}

const fn length(expected: u64, image: &[u8]) -> ImageError {
    ImageError::Length { expected, found: image.len() }
}

/// The `N` bytes of the header from `at` on.
const fn take<const N: usize>(header: &[u8; HEADER], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    let mut i = 0;
    while i < N {
        bytes[i] = header[at + i];
        i += 1;
    }
    bytes
}

/// The model in the bytes of an image, where they lie.
///
/// # Errors
///
/// [`ImageError`] if they are not an undamaged image of a model of this type, at an address that is a multiple of 4.
///
/// ```
/// use constformer::{Linear, Zero, image};
///
/// let mut bytes = vec![];
/// image::encode(&Linear::<2, 3>::ZERO, |part| bytes.extend_from_slice(part));
/// assert!(matches!(image::from_bytes::<Linear<3, 2>>(&bytes), Err(image::ImageError::Structure { .. })));
/// ```
pub fn from_bytes<M: Parameters>(image: &[u8]) -> Result<&M, ImageError> {
    where_they_lie(checked::<M>(image)?)
}

/// The model in the bytes of its weights.
pub(super) fn where_they_lie<M: Parameters>(weights: &[u8]) -> Result<&M, ImageError> {
    let found = weights.as_ptr().addr() % align_of::<M>();
    M::ref_from_bytes(weights).map_err(|_| ImageError::Alignment { expected: align_of::<M>(), found })
}

/// The bytes of the weights in an undamaged image of a model of this type, wherever they lie.
pub(super) fn checked<M: Parameters>(image: &[u8]) -> Result<&[u8], ImageError> {
    let info = of_model::<M>(image)?;
    info.is_undamaged(image)?;
    Ok(info.weights)
}

/// An image of a model of this type, damaged or not.
pub(super) fn of_model<M: Parameters>(image: &[u8]) -> Result<Info<'_>, ImageError> {
    const { assert!(M::SIZE == size_of::<M>(), "the type has padding between its parts, so it has no image") };
    let info = Info::parse(image)?;
    info.is_of(image, M::FINGERPRINT, size_of::<M>() as u64)?;
    Ok(info)
}

impl Info<'_> {
    /// Whether the image is of a model of that fingerprint and that many bytes of weights.
    pub(crate) fn is_of(&self, image: &[u8], expected: Fingerprint, weights: u64) -> Result<(), ImageError> {
        if self.fingerprint != expected {
            return Err(ImageError::Structure { expected, found: self.fingerprint });
        }
        if self.weights.len() as u64 != weights {
            return Err(length((image.len() - self.weights.len()) as u64 + weights, image));
        }
        Ok(())
    }

    /// Whether the checksum is that of the image.
    pub(crate) fn is_undamaged(&self, image: &[u8]) -> Result<(), ImageError> {
        let (expected, found) = (self.checksum, checksum(image));
        if found == expected { Ok(()) } else { Err(ImageError::Checksum { expected, found }) }
    }
}

fn checksum(image: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(image.get(..CHECKSUM.start).unwrap_or_default());
    digest.update(image.get(CHECKSUM.end..).unwrap_or_default());
    digest.finalize()
}

/// The weights in an image of `M`, whose size is `SIZE`, for [`include_model!`](crate::include_model).
///
/// # Panics
///
/// If it is no image of `M`; in a constant that is a compile error.
#[must_use]
pub const fn weights<M: Parameters, const SIZE: usize>(image: &[u8]) -> [u8; SIZE] {
    assert!(M::SIZE == SIZE, "the type has padding between its parts, so it has no image");
    let info = match Info::parse(image) {
        Ok(info) => info,
        Err(ImageError::NotAnImage) => {
            Message::new().text("not an image of a model: the first bytes are not those of one").panic()
        }
        Err(ImageError::ByteOrder) => {
            Message::new().text("the image or the target is big-endian; images are little-endian").panic()
        }
        Err(ImageError::Length { expected, found }) => Message::new()
            .text("the image is cut off or too long: ")
            .number(expected as usize)
            .text(" bytes expected, found ")
            .number(found)
            .panic(),
        Err(ImageError::Version { expected, found }) => Message::new()
            .text("an image with a header of version ")
            .number(expected as usize)
            .text(" expected, found version ")
            .number(found as usize)
            .panic(),
        Err(_) => {
            Message::new().text("the weights of the image are stored in a way that this library does not know").panic()
        }
    };
    if info.fingerprint.0 != M::FINGERPRINT.0 {
        Message::new()
            .text("the image is of a model of another type: `")
            .text(info.description)
            .text("`, fingerprint ")
            .hexadecimal(info.fingerprint.0)
            .text(", where ")
            .hexadecimal(M::FINGERPRINT.0)
            .text(" is wanted")
            .panic();
    }
    match info.weights.first_chunk() {
        Some(weights) if info.weights.len() == SIZE => *weights,
        _ => Message::new()
            .text("the image has ")
            .number(info.weights.len())
            .text(" bytes of weights, the type takes ")
            .number(SIZE)
            .panic(),
    }
}
