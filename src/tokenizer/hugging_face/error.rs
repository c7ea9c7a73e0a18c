//! What can be wrong with a `tokenizer.json` and with texts.

use crate::{embedding::UnknownToken, sequence::TooLong};
use core::{error::Error, fmt};
use std::{boxed::Box, io, path::PathBuf};

/// A `tokenizer.json` is not one of the model, or a text has no tokens.
#[derive(Debug)]
#[non_exhaustive]
pub enum HuggingFaceError {
    /// The file cannot be read.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is no `tokenizer.json`, or is damaged.
    Malformed {
        /// What is wrong with it.
        error: Box<dyn Error + Send + Sync>,
    },
    /// It has ids that the model has no row for.
    Vocabulary {
        /// Tokens in the vocabulary of the model; ids are below it.
        expected: usize,
        /// What the ids of the file are below.
        found: usize,
    },
    /// There is no room for the special tokens.
    TooLong(TooLong),
    /// An id is not one of the vocabulary.
    UnknownToken(UnknownToken),
    /// The tokens of a pair are not of type 0 and then of type 1.
    Type {
        /// Which token, from 0.
        at: usize,
        /// Its type.
        found: u32,
    },
    /// The tokenizer cannot encode a text or decode ids.
    Text {
        /// Why.
        error: Box<dyn Error + Send + Sync>,
    },
}

/// What the tokenizer says of a text.
pub(super) fn foreign(error: Box<dyn Error + Send + Sync>) -> HuggingFaceError {
    HuggingFaceError::Text { error }
}

impl fmt::Display for HuggingFaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Malformed { error } => write!(f, "not a tokenizer.json, or damaged: {error}"),
            Self::Vocabulary { expected, found } => {
                write!(f, "token ids below {expected} expected, as the model has them, found some up to {}", found - 1)
            }
            Self::TooLong(e) => write!(f, "the special tokens alone: {e}"),
            Self::UnknownToken(e) => e.fmt(f),
            Self::Type { at, found } => {
                write!(f, "a pair's tokens of type 0 and then of type 1 expected, found type {found} at token {at}")
            }
            Self::Text { error } => write!(f, "the tokenizer fails: {error}"),
        }
    }
}

impl Error for HuggingFaceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            Self::Malformed { error } | Self::Text { error } => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl From<TooLong> for HuggingFaceError {
    fn from(e: TooLong) -> Self {
        Self::TooLong(e)
    }
}

impl From<UnknownToken> for HuggingFaceError {
    fn from(e: UnknownToken) -> Self {
        Self::UnknownToken(e)
    }
}
