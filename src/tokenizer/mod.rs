//! From text to token ids and back, without a heap.
//!
//! [`Bytes`] and [`Characters`] have a token for each byte and for each character of an alphabet; [`Vocabulary`] merges
//! pairs, as Llama does. All write ids into a slice of the caller. A token can end inside of a character, so what is decoded
//! is bytes; [`Utf8`] makes characters of them as they come.
#![cfg_attr(feature = "tokenizers", doc = "")]
#![cfg_attr(feature = "tokenizers", doc = "On a host, [`HuggingFace`] reads the `tokenizer.json` of published models.")]

mod bytes;
mod characters;
mod error;
#[cfg(feature = "tokenizers")]
mod hugging_face;
mod index;
mod merge;
mod utf8;
mod vocabulary;

pub use bytes::Bytes;
pub use characters::Characters;
pub use error::{AlphabetError, EncodeError, UnknownCharacter, VocabularyError};
#[cfg(feature = "tokenizers")]
pub use hugging_face::{HuggingFace, HuggingFaceError, Pieces};
pub use utf8::{Decoded, Utf8};
pub use vocabulary::Vocabulary;

use crate::sequence::TooLong;

/// Ids written one after the other; those without room are counted.
struct Ids<'a> {
    out: &'a mut [u32],
    len: usize,
}

impl<'a> Ids<'a> {
    const fn new(out: &'a mut [u32]) -> Self {
        Self { out, len: 0 }
    }

    fn push(&mut self, id: u32) {
        if let Some(place) = self.out.get_mut(self.len) {
            *place = id;
        }
        self.len += 1;
    }

    /// All of them, if there was room.
    fn finish(self) -> Result<&'a mut [u32], TooLong> {
        let capacity = self.out.len();
        self.out.get_mut(..self.len).ok_or(TooLong { capacity, found: self.len })
    }
}
