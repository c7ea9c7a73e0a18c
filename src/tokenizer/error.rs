//! What can be wrong with texts, alphabets and vocabulary files.

use crate::sequence::TooLong;
use core::{error::Error, fmt};

/// A text has no tokens, or too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EncodeError {
    /// There is no room for so many.
    TooLong(TooLong),
    /// A character has no token.
    UnknownCharacter(UnknownCharacter),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(e) => e.fmt(f),
            Self::UnknownCharacter(e) => e.fmt(f),
        }
    }
}

impl Error for EncodeError {}

impl From<TooLong> for EncodeError {
    fn from(e: TooLong) -> Self {
        Self::TooLong(e)
    }
}

impl From<UnknownCharacter> for EncodeError {
    fn from(e: UnknownCharacter) -> Self {
        Self::UnknownCharacter(e)
    }
}

/// A character has no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UnknownCharacter {
    /// The character.
    pub character: char,
    /// Where it begins in the text, in bytes.
    pub at: usize,
}

impl fmt::Display for UnknownCharacter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the character {:?} at byte {} has no token", self.character, self.at)
    }
}

impl Error for UnknownCharacter {}

/// A text is not the alphabet that the type wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AlphabetError {
    /// It has another number of characters.
    Size {
        /// As many as the type says.
        expected: usize,
        /// As many as there are.
        found: usize,
    },
    /// A character is in it twice.
    Twice {
        /// The character.
        character: char,
    },
}

impl fmt::Display for AlphabetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { expected, found } => write!(f, "an alphabet of {expected} characters expected, found {found}"),
            Self::Twice { character } => {
                write!(f, "every character of an alphabet expected once, found {character:?} twice")
            }
        }
    }
}

impl Error for AlphabetError {}

/// The bytes are no vocabulary of the size that the type wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum VocabularyError {
    /// They end within the header or within a token, or they are too many to count in 32 bits.
    Bytes {
        /// Bytes that there should be: at least, if there are fewer, and at most, if there are more.
        expected: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The length of the longest token is not positive.
    MaxLength {
        /// What the file says.
        found: i32,
    },
    /// A token is empty, or longer than the longest one.
    Length {
        /// Its id.
        id: u32,
        /// The length of the longest token; the shortest has 1 byte.
        expected: u32,
        /// Its length, as the file says.
        found: i32,
    },
    /// A score is NaN or infinite.
    Score {
        /// The id of the token.
        id: u32,
    },
    /// It is a vocabulary of another size.
    Size {
        /// Tokens in the vocabulary of the model.
        expected: usize,
        /// Tokens in the file.
        found: usize,
    },
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes { expected, found } if found < expected => {
                write!(f, "the vocabulary is cut off: at least {expected} bytes expected, found {found}")
            }
            Self::Bytes { expected, found } => {
                write!(f, "the vocabulary is too large: at most {expected} bytes expected, found {found}")
            }
            Self::MaxLength { found } => write!(f, "a longest token of at least 1 byte expected, found {found}"),
            Self::Length { id, expected, found } => {
                write!(f, "token {id} should have 1 to {expected} bytes, found a length of {found}")
            }
            Self::Score { id } => write!(f, "token {id} should have a finite score, found NaN or an infinite one"),
            Self::Size { expected, found } => write!(f, "a vocabulary of {expected} tokens expected, found {found}"),
        }
    }
}

impl Error for VocabularyError {}
