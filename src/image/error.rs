//! What can be wrong with an image.

use crate::parameters::Fingerprint;
use core::{error::Error, fmt};

/// The bytes are no image of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ImageError {
    /// They do not begin as an image does.
    NotAnImage,
    /// They end before the header does, or before or after the weights do.
    Length {
        /// Bytes that an image of the model has, or that a header has at least.
        expected: u64,
        /// Bytes that there are.
        found: usize,
    },
    /// The image, or this processor, is big-endian.
    ByteOrder,
    /// The image has a header of another version.
    Version {
        /// The version that this library reads.
        expected: u16,
        /// The version of the image.
        found: u16,
    },
    /// The weights are stored in a way that this library does not know.
    Format {
        /// The format that this library reads.
        expected: u32,
        /// The format of the image.
        found: u32,
    },
    /// The image is of a model of another type.
    Structure {
        /// The fingerprint of the type.
        expected: Fingerprint,
        /// The fingerprint in the image.
        found: Fingerprint,
    },
    /// The image was damaged.
    Checksum {
        /// The checksum in the image.
        expected: u32,
        /// The checksum of its bytes.
        found: u32,
    },
    /// The bytes do not lie where the weights could be read.
    Alignment {
        /// The address must be a multiple of it.
        expected: usize,
        /// By how much it is none.
        found: usize,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnImage => f.write_str("not an image of a model: the first bytes are not those of one"),
            Self::Length { expected, found } => write!(f, "an image of {expected} bytes expected, found {found}"),
            Self::ByteOrder => f.write_str("the image or this processor is big-endian; images are little-endian"),
            Self::Version { expected, found } => {
                write!(f, "an image with a header of version {expected} expected, found version {found}")
            }
            Self::Format { expected, found } => {
                write!(f, "an image with weights in format {expected} expected, found format {found}")
            }
            Self::Structure { expected, found } => {
                write!(f, "the image is of a model of another type: fingerprint {expected} expected, found {found}")
            }
            Self::Checksum { expected, found } => {
                write!(f, "the image is damaged: checksum {expected:08x} expected, found {found:08x}")
            }
            Self::Alignment { expected, found } => {
                write!(f, "an address that is a multiple of {expected} expected, found one that is {found} more")
            }
        }
    }
}

impl Error for ImageError {}
