//! What can be wrong with the settings of a sampler, and with logits.

use crate::{embedding::UnknownToken, sequence::Empty};
use core::{error::Error, fmt};

/// A setting of a [`Sampler`](super::Sampler) is out of range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingError {
    /// A temperature is above 0 and finite.
    Temperature {
        /// What it was to be.
        found: f32,
    },
    /// At least one token is kept.
    TopK {
        /// How many were to be.
        found: usize,
    },
    /// A probability to keep is above 0 and at most 1.
    TopP {
        /// What it was to be.
        found: f32,
    },
    /// A penalty is above 0 and finite; 1 is none.
    RepetitionPenalty {
        /// What it was to be.
        found: f32,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temperature { found } => write!(f, "a finite temperature above 0 expected, found {found}"),
            Self::TopK { found } => write!(f, "a top-k of at least 1 expected, found {found}"),
            Self::TopP { found } => write!(f, "a top-p above 0 and at most 1 expected, found {found}"),
            Self::RepetitionPenalty { found } => {
                write!(f, "a finite repetition penalty above 0 expected, found {found}")
            }
        }
    }
}

impl Error for SettingError {}

/// There is no token to be had from these logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SamplingError {
    /// There are no logits.
    Empty(Empty),
    /// A logit is NaN.
    NotANumber {
        /// The first such token.
        id: u32,
    },
    /// A logit is +∞. (-∞ is a masked token.)
    Infinite {
        /// The first such token.
        id: u32,
    },
    /// All logits are -∞.
    Masked,
    /// A token that was seen is none of the vocabulary.
    UnknownToken(UnknownToken),
}

impl fmt::Display for SamplingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(_) => f.write_str("no logits, where there must be one at least"),
            Self::NotANumber { id } => write!(f, "a number expected as the logit of token {id}, found NaN"),
            Self::Infinite { id } => write!(f, "a finite logit of token {id} expected, found +∞"),
            Self::Masked => f.write_str("a logit above -∞ expected, found none: all tokens are masked"),
            Self::UnknownToken(e) => e.fmt(f),
        }
    }
}

impl Error for SamplingError {}

impl From<Empty> for SamplingError {
    fn from(e: Empty) -> Self {
        Self::Empty(e)
    }
}

impl From<UnknownToken> for SamplingError {
    fn from(e: UnknownToken) -> Self {
        Self::UnknownToken(e)
    }
}
