//! What can be wrong with the text of a type.

use core::{error::Error, fmt};
use std::string::String;

/// A text is no type of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlueprintError {
    /// It is no type at all.
    Syntax {
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// It names a type that is not of this library, or not one that is known at run time.
    Own(String),
    /// rustc would refuse it.
    Wrong(String),
}

impl fmt::Display for BlueprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { expected, found } if found.is_empty() => {
                write!(f, "not a type: {expected} expected, found the end")
            }
            Self::Syntax { expected, found } => write!(f, "not a type: {expected} expected, found `{found}`"),
            Self::Own(name) => write!(f, "`{name}` is no type of this library"),
            Self::Wrong(text) => f.write_str(text),
        }
    }
}

impl Error for BlueprintError {}
