//! Tokenizers of Hugging Face.

mod error;
mod pieces;

pub use error::HuggingFaceError;
pub use pieces::Pieces;

use crate::{embedding::UnknownToken, sequence::TooLong};
use core::{fmt, ops::Range};
use error::foreign;
use std::{borrow::ToOwned, fs, panic, path::Path, string::String, vec::Vec};
use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationParams, truncate_encodings};

/// The tokenizer of a `tokenizer.json`, for a model of `VOCABULARY` tokens: WordPiece, byte pairs, unigrams
///
/// What it makes of a text is what `transformers` makes of it; the work is done by the crate
/// [`tokenizers`](https://docs.rs/tokenizers), without its parts in C and C++. Padding and truncation that the file asks for
/// are switched off: a sequence here is as long as it is, and how long it may be is said by who calls.
///
/// All ids are below `VOCABULARY`: a file with others is an error. It may have fewer tokens than the model has rows, since
/// tables are often padded to a round number; no text has the ids in between, and they decode to nothing, as in
/// `transformers`.
///
/// What looks like a special token in a text, `[MASK]` say, is that token. Take it out of text that you do not trust.
///
/// ```
/// use constformer::tokenizer::HuggingFace;
///
/// const JSON: &[u8] = br###"{
///     "added_tokens": [{"id": 0, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false,
///         "normalized": false, "special": true}],
///     "pre_tokenizer": {"type": "BertPreTokenizer"},
///     "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 0], "sep": ["[SEP]", 1]},
///     "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
///     "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
///         "max_input_chars_per_word": 100,
///         "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "one": 3, "##s": 4, "two": 5}}
/// }"###; // really `HuggingFace::open("all-MiniLM-L6-v2")`
///
/// let tokenizer = HuggingFace::<8>::from_bytes(JSON)?;
/// assert_eq!(tokenizer.encode("two ones")?, [5, 3, 4]);
/// assert_eq!(tokenizer.encode_special("two ones", 4)?, [0, 5, 3, 1]);
/// assert_eq!(tokenizer.encode_pair("one", "two", 16)?, [vec![0, 3, 1], vec![5, 1]]);
/// assert_eq!(tokenizer.decode(&[0, 5, 3, 4], true)?, "two ones");
/// # Ok::<(), constformer::tokenizer::HuggingFaceError>(())
/// ```
pub struct HuggingFace<const VOCABULARY: usize> {
    /// Neither pads nor truncates.
    tokenizer: Tokenizer,
}

impl<const VOCABULARY: usize> HuggingFace<VOCABULARY> {
    /// Reads a `tokenizer.json`, or that of a folder.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError`] if it cannot be read, is no such file, or has ids that the model has no row for.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, HuggingFaceError> {
        let path = path.as_ref();
        let path = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        match fs::read(&path) {
            Ok(bytes) => Self::from_bytes(&bytes),
            Err(error) => Err(HuggingFaceError::File { path, error }),
        }
    }

    /// The tokenizer of a `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError`] if it is no such file, or has ids that the model has no row for.
    pub fn from_bytes(json: &[u8]) -> Result<Self, HuggingFaceError> {
        // The crate panics where a file is cut off or damaged in certain places. What is no JSON is found before; the rest is
        // caught, and so it is while special tokens are put around nothing.
        let malformed = |error| HuggingFaceError::Malformed { error };
        serde_json::from_slice::<serde_json::Value>(json).map_err(|error| malformed(error.into()))?;
        let (this, largest) = panic::catch_unwind(|| {
            let mut tokenizer = Tokenizer::from_bytes(json).map_err(malformed)?;
            tokenizer.with_padding(None);
            tokenizer.with_truncation(None).map_err(malformed)?;
            let this = Self { tokenizer };
            let largest = this.largest_id()?;
            Ok::<_, HuggingFaceError>((this, largest))
        })
        .map_err(|_| malformed("a part of it that others name is missing or damaged".into()))??;
        let found = largest.map_or(0, |id| id as usize + 1);
        if found > VOCABULARY {
            return Err(HuggingFaceError::Vocabulary { expected: VOCABULARY, found });
        }
        Ok(this)
    }

    /// The ids of `text` alone, without the special tokens that a model may want around it.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError::Text`] if the tokenizer has no token for a part of it; most have one for all that they do not know.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, HuggingFaceError> {
        self.bare(text).map(|encoding| encoding.get_ids().to_vec())
    }

    /// The ids of `text` with the bytes of `text` that they stand for.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_with_places(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, HuggingFaceError> {
        let encoding = self.tokenizer.encode(text, false).map_err(foreign)?;
        let places = encoding.get_offsets().iter().map(|(start, end)| *start..*end);
        Ok(encoding.get_ids().iter().copied().zip(places).collect())
    }

    /// The ids of `text` with the special tokens that the file puts around it (`[CLS]`, `[SEP]`), at most `max_len` of them
    /// together: the end of a longer text is cut off, and the special tokens are kept.
    ///
    /// transformers: `truncation=True, max_length=max_len`.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError`] as [`encode`](Self::encode), and if the special tokens alone are more than `max_len`.
    pub fn encode_special(&self, text: &str, max_len: usize) -> Result<Vec<u32>, HuggingFaceError> {
        self.finish(self.bare(text)?, None, max_len).map(|encoding| encoding.get_ids().to_vec())
    }

    /// The ids of a pair of texts with special tokens, at most `max_len` of them together: first those of type 0, then those
    /// of type 1, as [`BertEmbedding::forward_pair`](crate::BertEmbedding::forward_pair) takes them. Of texts that are too long
    /// together, the longer one loses its end until both are as long, and then both do.
    ///
    /// RoBERTa has one type: there all ids are of type 0, and none of type 1. transformers:
    /// `truncation="longest_first", max_length=max_len`.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError`] as [`encode_special`](Self::encode_special), and if types are not 0 and then 1.
    pub fn encode_pair(&self, first: &str, second: &str, max_len: usize) -> Result<[Vec<u32>; 2], HuggingFaceError> {
        let mut second = self.bare(second)?;
        second.set_type_ids(second.get_ids().iter().map(|_| 1).collect());
        let pair = self.finish(self.bare(first)?, Some(second), max_len)?;
        let (ids, types) = (pair.get_ids(), pair.get_type_ids());
        let (zeros, ones) = ids.split_at(types.iter().take_while(|kind| **kind == 0).count());
        match types.iter().enumerate().skip(zeros.len()).find(|(_, kind)| **kind != 1) {
            Some((at, found)) => Err(HuggingFaceError::Type { at, found: *found }),
            None => Ok([zeros.to_vec(), ones.to_vec()]),
        }
    }

    /// The text of tokens; without special ones, if they are to be skipped.
    ///
    /// # Errors
    ///
    /// [`HuggingFaceError::UnknownToken`] if an id is not below `VOCABULARY`.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<String, HuggingFaceError> {
        ids.iter().try_for_each(|id| known::<VOCABULARY>(*id))?;
        self.tokenizer.decode(ids, skip_special).map_err(foreign)
    }

    /// The text of tokens as they come; without special ones, if they are to be skipped.
    #[must_use]
    pub fn pieces(&self, skip_special: bool) -> Pieces<'_, VOCABULARY> {
        Pieces::new(self.tokenizer.decode_stream(skip_special))
    }

    /// The id of a token by its text in the file, `[MASK]` say.
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The text of a token in the file.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<String> {
        self.tokenizer.id_to_token(id)
    }

    /// Of the tokens of the file, and of those that are put around texts: they have their ids in another part of it.
    fn largest_id(&self) -> Result<Option<u32>, HuggingFaceError> {
        let mut largest = self.tokenizer.get_vocab(true).into_values().max();
        for second in [None, Some("")] {
            let ends = self.finish(self.bare("")?, second.map(|text| self.bare(text)).transpose()?, usize::MAX)?;
            largest = largest.max(ends.get_ids().iter().copied().max());
        }
        Ok(largest)
    }

    /// Without special tokens.
    fn bare(&self, text: &str) -> Result<Encoding, HuggingFaceError> {
        self.tokenizer.encode_fast(text, false).map_err(foreign)
    }

    /// Cuts off what is too long, and puts special tokens around the rest.
    fn finish(&self, first: Encoding, second: Option<Encoding>, max_len: usize) -> Result<Encoding, HuggingFaceError> {
        let special =
            self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(second.is_some()));
        let room = max_len.checked_sub(special).ok_or(TooLong { capacity: max_len, found: special })?;
        let params = TruncationParams { max_length: room, ..TruncationParams::default() };
        let (mut first, mut second) = truncate_encodings(first, second, &params).map_err(foreign)?;
        // What was cut off is not wanted.
        first.take_overflowing();
        second.as_mut().map(Encoding::take_overflowing);
        self.tokenizer.post_process(first, second, true).map_err(foreign)
    }
}

/// An error if the id is not below `VOCABULARY`.
fn known<const VOCABULARY: usize>(id: u32) -> Result<(), UnknownToken> {
    if (id as usize) < VOCABULARY { Ok(()) } else { Err(UnknownToken { id, vocabulary: VOCABULARY }) }
}

impl<const VOCABULARY: usize> fmt::Debug for HuggingFace<VOCABULARY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.tokenizer.get_vocab_size(true);
        f.debug_struct("HuggingFace").field("vocabulary", &VOCABULARY).field("tokens", &tokens).finish()
    }
}
