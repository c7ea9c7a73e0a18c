//! Text out of tokens that come one by one.

use super::{HuggingFaceError, error::foreign, known};
use core::fmt;
use std::string::String;
use tokenizers::{
    DecodeStream, DecoderWrapper, ModelWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
};

/// Text out of tokens that come one by one, as a language model writes them: see
/// [`HuggingFace::pieces`](super::HuggingFace::pieces)
///
/// One after the other, the pieces are what [`decode`](super::HuggingFace::decode) gives at once. A piece ends where a
/// character does; what is incomplete at the end is in none.
pub struct Pieces<'t, const VOCABULARY: usize> {
    stream: Stream<'t>,
}

type Stream<'t> =
    DecodeStream<'t, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

impl<'t, const VOCABULARY: usize> Pieces<'t, VOCABULARY> {
    pub(super) fn new(stream: Stream<'t>) -> Self {
        Self { stream }
    }

    /// The text that is complete with this token, if there is any.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError`] if the id is not below `VOCABULARY`, or if the token changes text that was given already.
    pub fn push(&mut self, id: u32) -> Result<Option<String>, HuggingFaceError> {
        known::<VOCABULARY>(id)?;
        self.stream.step(id).map_err(foreign)
    }
}

impl<const VOCABULARY: usize> fmt::Debug for Pieces<'_, VOCABULARY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("vocabulary", &VOCABULARY).finish_non_exhaustive()
    }
}
