//! A token for each character of an alphabet.

use super::{AlphabetError, EncodeError, Ids, UnknownCharacter};
use crate::embedding::UnknownToken;

/// tᵢ = the place of cᵢ in an alphabet of `SIZE` characters
///
/// The tokenizer of character-level models; nanoGPT: `sorted(list(set(data)))`. An alphabet is short, so characters are
/// looked for from its beginning to its end.
///
/// ```
/// use constformer::tokenizer::Characters;
///
/// static DNA: Characters<4> = match Characters::new("ACGT") {
///     Ok(alphabet) => alphabet,
///     Err(_) => panic!("not an alphabet of 4 characters"),
/// };
///
/// let mut ids = [0; 8];
/// let len = DNA.encode("GATTACA", &mut ids)?;
/// assert_eq!(ids[..len], [2, 0, 3, 3, 0, 1, 0]);
/// assert_eq!(DNA.decode(2)?, 'G');
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characters<const SIZE: usize> {
    alphabet: [char; SIZE],
}

impl<const SIZE: usize> Characters<SIZE> {
    /// Number of tokens: the `VOCABULARY` of a model.
    pub const SIZE: usize = SIZE;

    /// The characters in order of their ids.
    ///
    /// # Errors
    ///
    /// [`AlphabetError`] if they are not `SIZE` different ones.
    pub const fn new(alphabet: &str) -> Result<Self, AlphabetError> {
        let mut characters = ['\0'; SIZE];
        let mut rest = alphabet.as_bytes();
        let mut found = 0;
        while let Some((character, after)) = first(rest) {
            if found < SIZE {
                let mut i = 0;
                while i < found {
                    if characters[i] as u32 == character as u32 {
                        return Err(AlphabetError::Twice { character });
                    }
                    i += 1;
                }
                characters[found] = character;
            }
            found += 1;
            rest = after;
        }
        if found == SIZE {
            Ok(Self { alphabet: characters })
        } else {
            Err(AlphabetError::Size { expected: SIZE, found })
        }
    }

    /// Writes the ids of `text`; returns how many.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if there are more than `out` has room for, or if a character is not of the alphabet; then what is in
    /// `out` is of no use.
    pub fn encode(&self, text: &str, out: &mut [u32]) -> Result<usize, EncodeError> {
        let mut ids = Ids::new(out);
        for (at, character) in text.char_indices() {
            let id = (0..).zip(self.alphabet).find(|(_, c)| *c == character);
            ids.push(id.ok_or(UnknownCharacter { character, at })?.0);
        }
        Ok(ids.finish()?.len())
    }

    /// The character of a token.
    ///
    /// # Errors
    ///
    /// [`UnknownToken`] if the id is not below `SIZE`.
    pub fn decode(&self, token: u32) -> Result<char, UnknownToken> {
        self.alphabet.get(token as usize).copied().ok_or(UnknownToken { id: token, vocabulary: SIZE })
    }
}

/// The first character of UTF-8, and the bytes after it. (`str::chars` is not for constants.)
const fn first(bytes: &[u8]) -> Option<(char, &[u8])> {
    let Some((lead, mut rest)) = bytes.split_first() else { return None };
    // As many ones at the top of the first byte as the character has bytes; none if it has one.
    let ones = lead.leading_ones();
    let mut code = *lead as u32 & (0xFF >> ones);
    let mut more = ones;
    while more > 1 {
        let Some((byte, after)) = rest.split_first() else { return None };
        code = code << 6 | (*byte & 0x3F) as u32;
        rest = after;
        more -= 1;
    }
    match char::from_u32(code) {
        Some(character) => Some((character, rest)),
        None => None,
    }
}
