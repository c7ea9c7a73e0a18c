//! Why a command failed.

use core::fmt::Display;
use std::{format, io, path::Path, string::String};

/// A failure and what to say about it.
#[derive(Debug)]
pub(super) enum Failure {
    /// The file is not good, or does not fit: exit code 1.
    File(String),
    /// The command cannot be meant so: exit code 2.
    Usage(String),
    /// There is no one left to tell: exit code 0, as after `| head`.
    Closed,
}

impl Failure {
    /// Something about the file `path`.
    pub(super) fn file(path: &Path, error: impl Display) -> Self {
        Self::File(format!("{}: {error}", path.display()))
    }
}

/// Of writing what is printed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::File(format!("output: {error}")) }
    }
}
