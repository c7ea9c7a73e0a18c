//! What can be wrong with inputs.

use crate::{
    position::NoPosition,
    sequence::{Empty, TooLong},
};
use core::{error::Error, fmt};

/// A model cannot work on what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InputError {
    /// Nothing was given.
    Empty(Empty),
    /// There is no room for so much.
    TooLong(TooLong),
    /// There are no positions for so much.
    NoPosition(NoPosition),
    /// A token id is not one of the vocabulary.
    UnknownToken(UnknownToken),
}

/// A token id is not one of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UnknownToken {
    /// The token id.
    pub id: u32,
    /// Number of tokens in the vocabulary; ids are below it.
    pub vocabulary: usize,
}

impl fmt::Display for UnknownToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token id {} in a vocabulary of {}", self.id, self.vocabulary)
    }
}

impl Error for UnknownToken {}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(e) => e.fmt(f),
            Self::TooLong(e) => e.fmt(f),
            Self::NoPosition(e) => e.fmt(f),
            Self::UnknownToken(e) => e.fmt(f),
        }
    }
}

impl Error for InputError {}

impl From<Empty> for InputError {
    fn from(e: Empty) -> Self {
        Self::Empty(e)
    }
}

impl From<TooLong> for InputError {
    fn from(e: TooLong) -> Self {
        Self::TooLong(e)
    }
}

impl From<NoPosition> for InputError {
    fn from(e: NoPosition) -> Self {
        Self::NoPosition(e)
    }
}

impl From<UnknownToken> for InputError {
    fn from(e: UnknownToken) -> Self {
        Self::UnknownToken(e)
    }
}
