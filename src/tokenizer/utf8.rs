//! Characters out of bytes that come in pieces.

/// Characters out of pieces of UTF-8 that can begin and end inside of a character
///
/// What is no UTF-8 becomes U+FFFD, at the same places as in `String::from_utf8_lossy`. At most 3 bytes are kept for the
/// next piece.
///
/// ```
/// use constformer::tokenizer::Utf8;
///
/// let mut utf8 = Utf8::new();
/// let mut text = String::new();
/// for piece in [&b"zw"[..], b"\xC3", b"\xB6lf"] {
///     text.extend(utf8.push(piece));
/// }
/// text.extend(utf8.finish());
/// assert_eq!(text, "zwölf");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf8 {
    /// The first `len` bytes begin a character, or are one byte after what was none.
    pending: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// At the beginning of a text.
    #[must_use]
    pub const fn new() -> Self {
        Self { pending: [0; 4], len: 0 }
    }

    /// The characters that are complete with `piece`. Bytes are lost if the iterator is not used up.
    pub const fn push<'a>(&'a mut self, piece: &'a [u8]) -> Decoded<'a> {
        Decoded { utf8: self, piece }
    }

    /// At the end of the text: U+FFFD if it ends inside of a character. Then another text can begin.
    pub const fn finish(&mut self) -> Option<char> {
        let incomplete = self.len > 0;
        *self = Self::new();
        if incomplete { Some(char::REPLACEMENT_CHARACTER) } else { None }
    }

    /// Takes a character out of what is pending, if it is whole or can be none any more.
    fn take(&mut self) -> Option<char> {
        let pending = self.pending.get(..self.len).unwrap_or_default();
        let (character, bytes) = match core::str::from_utf8(pending) {
            Ok(text) => text.chars().next().map(|c| (c, c.len_utf8()))?,
            Err(e) => (char::REPLACEMENT_CHARACTER, e.error_len()?),
        };
        self.pending.rotate_left(bytes.min(4));
        self.len = self.len.saturating_sub(bytes);
        Some(character)
    }
}

/// The characters of [`Utf8::push`].
#[derive(Debug)]
pub struct Decoded<'a> {
    utf8: &'a mut Utf8,
    piece: &'a [u8],
}

impl Iterator for Decoded<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(character) = self.utf8.take() {
                return Some(character);
            }
            let (byte, rest) = self.piece.split_first()?;
            self.piece = rest;
            if let Some(place) = self.utf8.pending.get_mut(self.utf8.len) {
                *place = *byte;
                self.utf8.len += 1;
            }
        }
    }
}
