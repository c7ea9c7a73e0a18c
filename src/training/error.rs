//! What can be wrong with inputs and targets.

use crate::embedding::{InputError, UnknownToken};
use core::{error::Error, fmt};

/// A model cannot be trained on what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TrainingError {
    /// It cannot work on the inputs.
    Input(InputError),
    /// A target is not one of the vocabulary, or of the classes.
    UnknownTarget(UnknownToken),
    /// There are not as many targets as inputs.
    WrongTargets(WrongTargets),
}

/// There are not as many targets as inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WrongTargets {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of targets.
    pub targets: usize,
}

impl WrongTargets {
    pub(super) const fn check(inputs: usize, targets: usize) -> Result<(), Self> {
        if inputs == targets { Ok(()) } else { Err(Self { inputs, targets }) }
    }
}

impl fmt::Display for WrongTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a target for each of {} inputs expected, found {}", self.inputs, self.targets)
    }
}

impl Error for WrongTargets {}

impl fmt::Display for TrainingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(e) => e.fmt(f),
            Self::UnknownTarget(UnknownToken { id, vocabulary }) => {
                write!(f, "a target below {vocabulary}, or `IGNORE`, expected, found {id}")
            }
            Self::WrongTargets(e) => e.fmt(f),
        }
    }
}

impl Error for TrainingError {}

impl From<InputError> for TrainingError {
    fn from(e: InputError) -> Self {
        Self::Input(e)
    }
}

impl From<UnknownToken> for TrainingError {
    fn from(e: UnknownToken) -> Self {
        Self::UnknownTarget(e)
    }
}

impl From<WrongTargets> for TrainingError {
    fn from(e: WrongTargets) -> Self {
        Self::WrongTargets(e)
    }
}
