//! Images: a model as a file, and as bytes in flash.
//!
//! An image is a header and the bytes of the model: the very bytes that lie in memory, so there is nothing to decode.
//! [`include_model!`](crate::include_model) makes a `&'static Model` of a file at compile time, [`from_bytes`] makes a
//! `&Model` of bytes at run time; both without a copy of the weights. On a host, [`read`] copies the weights of a file and `Mapped` (feature
//! `memmap`) maps them. [`encode`] writes one.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic: `89 43 46 4D 0D 0A 1A 0A`, which a transfer as text would damage |
//! | 8..10 | byte order: `0x0102`, little-endian as all numbers |
//! | 10..12 | version of this header: 2 |
//! | 12..16 | format of the weights: 1, little-endian and as they lie in memory |
//! | 16..24 | [`Fingerprint`](crate::Fingerprint) of the model's type |
//! | 24..32 | bytes of weights |
//! | 32..36 | bytes of the description |
//! | 36..40 | CRC-32 (ISO-HDLC, as in zip) of all other bytes of the file |
//! | 40.. | description: the model's type in Rust, UTF-8, for people; zeros up to the next multiple of 64 |
//! | then | the weights, to the end of the file |

mod decode;
mod encode;
mod error;
#[cfg(feature = "std")]
mod file;
#[cfg(feature = "memmap")]
mod mapped;
mod placed;

#[doc(hidden)]
pub use decode::weights;
pub use decode::{Info, from_bytes};
pub use encode::encode;
#[cfg(feature = "cli")]
pub(crate) use encode::encode_any;
pub use error::ImageError;
#[cfg(feature = "safetensors")]
pub(crate) use file::Part;
#[cfg(feature = "std")]
pub use file::{ReadError, read, write};
#[cfg(feature = "memmap")]
pub use mapped::Mapped;
#[doc(hidden)]
pub use placed::Placed;

use crc::{CRC_32_ISO_HDLC, Crc, Table};

const MAGIC: [u8; 8] = *b"\x89CFM\r\n\x1a\n";
const BYTE_ORDER: u16 = 0x0102;
const VERSION: u16 = 2;
const FORMAT: u32 = 1;
/// Bytes before the description.
const HEADER: usize = 40;
/// Weights begin at a multiple of it: a line of the cache, so that they are aligned where a file is mapped.
const ALIGNMENT: usize = 64;
/// Where the CRC-32 is.
const CHECKSUM: core::ops::Range<usize> = 36..40;

const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Where the weights begin after a description of `description` bytes.
const fn start_of_weights(description: u32) -> u64 {
    (HEADER as u64 + description as u64).next_multiple_of(ALIGNMENT as u64)
}

/// The model in the image `path`, as a `&'static` of type `$model`: in flash, not copied.
///
/// An image of another structure, length, version or byte order is a compile error that says what it holds. The checksum is
/// not looked at, and the header is not kept: a test that gives the file to
/// [`image::from_bytes`](crate::image::from_bytes) or [`image::read`](crate::image::read) looks at it.
///
/// ```
/// use constformer::*;
///
/// type Digits = Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;
///
/// static DIGITS: &Digits = include_model!(Digits, "../../examples/digits/digits.cfm");
/// ```
///
/// The path is relative to the file that it stands in, as that of `include_bytes!`. A crate that includes an image does not
/// compile without it, so what writes the first one is another crate, or has the `static` behind a feature.
#[macro_export]
macro_rules! include_model {
    ($model:ty, $path:expr $(,)?) => {{
        static MODEL: $crate::image::Placed<$model> =
            $crate::image::Placed($crate::zerocopy::transmute!($crate::image::weights::<
                $model,
                { ::core::mem::size_of::<$model>() },
            >(include_bytes!($path))));
        &MODEL.0
    }};
}
