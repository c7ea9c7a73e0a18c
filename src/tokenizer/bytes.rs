//! A token for each byte.

use super::Ids;
use crate::{embedding::UnknownToken, sequence::TooLong};

/// Every byte, once.
static BYTES: [u8; Bytes::SIZE] = {
    let mut bytes = [0; Bytes::SIZE];
    let mut i = 0;
    while i < Bytes::SIZE {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
};

/// The byte as a slice.
pub(super) fn byte(byte: u8) -> &'static [u8] {
    BYTES.get(byte as usize..=byte as usize).unwrap_or_default()
}

/// tᵢ = bᵢ: the ids are the bytes of the text in UTF-8
///
/// ```
/// use constformer::tokenizer::Bytes;
///
/// let mut ids = [0; 8];
/// let len = Bytes.encode("zwölf", &mut ids)?;
/// assert_eq!(ids[..len], [122, 119, 195, 182, 108, 102]);
/// assert_eq!(Bytes.decode(195)?, [0xC3]); // half an ö: see `Utf8`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes;

impl Bytes {
    /// Number of tokens: the `VOCABULARY` of a model.
    pub const SIZE: usize = 256;

    /// Writes the ids of `text`; returns how many.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are more than `out` has room for; then what is in `out` is of no use.
    pub fn encode(&self, text: &str, out: &mut [u32]) -> Result<usize, TooLong> {
        let mut ids = Ids::new(out);
        text.bytes().for_each(|byte| ids.push(byte.into()));
        ids.finish().map(|ids| ids.len())
    }

    /// The byte of a token.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the id is not below 256.
    pub fn decode(&self, token: u32) -> Result<&'static [u8], UnknownToken> {
        u8::try_from(token).map(byte).map_err(|_| UnknownToken { id: token, vocabulary: Self::SIZE })
    }
}
