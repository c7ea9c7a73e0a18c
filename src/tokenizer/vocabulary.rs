//! The vocabulary file of llama2.c, where it lies.

use super::{
    VocabularyError,
    bytes::byte,
    index::{record, sorted},
};
use crate::{embedding::UnknownToken, message::Message};

/// Byte pairs: the text's characters are tokens, and the pair of neighbours with the best score becomes one, again and again
///
/// The vocabulary is a file `tokenizer.bin` of [llama2.c](https://github.com/karpathy/llama2.c), little-endian:
///
/// | bytes | content |
/// |---|---|
/// | 4 | length of the longest token, `i32` |
/// | then, a token: 4 | score, `f32` |
/// | 4 | length n, `i32` |
/// | n | text, UTF-8, or `<0xNN>`, which is a byte |
///
/// The file does not say how many tokens it has. Here the type does, and a file with more or fewer is an error: `SIZE` is the
/// `VOCABULARY` of the model. Tokens 0, 1 and 2 are [`UNKNOWN`](Self::UNKNOWN), [`BOS`](Self::BOS) and [`EOS`](Self::EOS);
/// the bytes, if they have tokens, are 3 to 258. Llama: `sentencepiece`, with `▁` as a space; BPE: Sennrich et al.,
/// [Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909), 2016.
///
/// Texts stay in the file. Beside it there are two tables: where a token begins, and the tokens in the order of their texts,
/// 6 bytes a token together. The second one is for merging, which looks up a text for every pair and every merge: by
/// bisection that is 9 comparisons in a vocabulary of 512, and not 512. [`parse`](Self::parse) is for constants too: a
/// `static` keeps the tables in flash, off the stack, and a wrong file does not compile.
///
/// ```
/// use constformer::tokenizer::Vocabulary;
///
/// const FILE: &[u8] = b"\x05\0\0\0\
///     \0\0\0\0\x05\0\0\0<unk>\
///     \0\0\0\0\x03\0\0\0<s>\
///     \0\0\0\0\x04\0\0\0</s>\
///     \0\0\0\0\x01\0\0\0 \
///     \0\0\0\0\x01\0\0\0a\
///     \0\0\0\0\x01\0\0\0b\
///     \0\0\x80\x3F\x02\0\0\0ab"; // really `include_bytes!("tokenizer.bin")`
///
/// static VOCABULARY: Vocabulary<7> = match Vocabulary::parse(FILE) {
///     Ok(vocabulary) => vocabulary,
///     Err(_) => panic!("not a vocabulary of 7 tokens"),
/// };
///
/// let mut ids = [0; 16];
/// let len = VOCABULARY.encode("abba", &mut ids)?;
/// assert_eq!(ids[..len], [1, 3, 6, 5, 4]);
///
/// let mut text = Vec::<u8>::new();
/// for pair in ids[..len].windows(2) {
///     text.extend(VOCABULARY.decode(pair[0], pair[1])?);
/// }
/// assert_eq!(text, b"abba");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Vocabulary<'a, const SIZE: usize> {
    file: &'a [u8],
    /// Length of the longest token.
    pub(super) longest: usize,
    /// Where the record of a token begins in the file.
    records: [u32; SIZE],
    /// The ids in order of their texts, equal ones in their own.
    pub(super) sorted: [u16; SIZE],
}

impl<'a, const SIZE: usize> Vocabulary<'a, SIZE> {
    /// Number of tokens: the `VOCABULARY` of a model.
    pub const SIZE: usize = SIZE;
    /// `<unk>`: no text has it.
    pub const UNKNOWN: u32 = 0;
    /// `<s>`: what every text begins with.
    pub const BOS: u32 = 1;
    /// `</s>`: what a text ends with, if the model was trained so.
    pub const EOS: u32 = 2;

    /// Reads a `tokenizer.bin`.
    ///
    /// In a constant, 512 tokens take rustc a second. 32,000 would take it two minutes, and 10 ms at run time; those are for
    /// a `Box`.
    ///
    /// # Errors
    ///
    /// [`VocabularyError`] if the bytes are no such file, or one of another size.
    pub const fn parse(file: &'a [u8]) -> Result<Self, VocabularyError> {
        const {
            if SIZE < 3 || SIZE > 1 << 16 {
                Message::new().text("a vocabulary has 3 to 65536 tokens, and not ").number(SIZE).panic();
            }
        }
        if file.len() as u64 > u32::MAX as u64 {
            return Err(VocabularyError::Bytes { expected: u32::MAX as usize, found: file.len() });
        }
        let Some((longest, mut rest)) = file.split_first_chunk() else {
            return Err(VocabularyError::Bytes { expected: 4, found: file.len() });
        };
        let longest = i32::from_le_bytes(*longest);
        if longest < 1 {
            return Err(VocabularyError::MaxLength { found: longest });
        }
        let mut records = [0; SIZE];
        let mut found = 0;
        while !rest.is_empty() {
            let start = file.len() - rest.len();
            let Some((score, length, after)) = record(rest) else {
                return Err(VocabularyError::Bytes { expected: start.saturating_add(8), found: file.len() });
            };
            if !score.is_finite() {
                return Err(VocabularyError::Score { id: found as u32 });
            }
            if length < 1 || length > longest {
                return Err(VocabularyError::Length { id: found as u32, expected: longest as u32, found: length });
            }
            let Some((_, after)) = after.split_at_checked(length as usize) else {
                let expected = start.saturating_add(8).saturating_add(length as usize);
                return Err(VocabularyError::Bytes { expected, found: file.len() });
            };
            if found < SIZE {
                records[found] = start as u32;
            }
            found += 1;
            rest = after;
        }
        if found != SIZE {
            return Err(VocabularyError::Size { expected: SIZE, found });
        }
        let sorted = sorted(file, &records);
        Ok(Self { file, longest: longest as usize, records, sorted })
    }

    /// The bytes of a token, which is after `previous`. They can begin and end inside of a character: see
    /// [`Utf8`](super::Utf8).
    ///
    /// A token `<0xNN>` is a byte. [`BOS`](Self::BOS) and [`EOS`](Self::EOS) are no bytes. After [`BOS`](Self::BOS), a space
    /// at the beginning is left out, since [`encode`](Self::encode) has added one.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the id is not below `SIZE`.
    pub fn decode(&self, previous: u32, token: u32) -> Result<&'a [u8], UnknownToken> {
        let text = self.text(token).ok_or(UnknownToken { id: token, vocabulary: SIZE })?;
        Ok(match text {
            _ if token == Self::BOS || token == Self::EOS => &[],
            [b' ', rest @ ..] if previous == Self::BOS => rest,
            text => byte_of(text).map_or(text, |value| byte(value)),
        })
    }

    /// The text of a token, as it is in the file.
    #[must_use]
    pub fn text(&self, token: u32) -> Option<&'a [u8]> {
        let (_, length, after) = self.record(token)?;
        after.get(..length as usize)
    }

    /// The score of a token: of two pairs, the one whose token has more is merged first.
    #[must_use]
    pub fn score(&self, token: u32) -> Option<f32> {
        self.record(token).map(|(score, ..)| score)
    }

    fn record(&self, token: u32) -> Option<(f32, i32, &'a [u8])> {
        record(self.file.get(*self.records.get(token as usize)? as usize..)?)
    }
}

/// The byte that a text `<0xNN>` is.
pub(super) fn byte_of(text: &[u8]) -> Option<u8> {
    let digit = |d: u8| char::from(d).to_digit(16);
    match *text {
        [b'<', b'0', b'x', high, low, b'>'] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    }
}
