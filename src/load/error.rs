//! What can be wrong with a checkpoint.

use super::{Contradiction, Llama2cError};
use core::{error::Error, fmt};
use safetensors::{Dtype, SafeTensorError};
use std::{io, path::PathBuf, string::String, vec::Vec};

/// A checkpoint does not give a model.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no safetensors file, or is damaged.
    Malformed {
        /// Which, if it is one; or which of the shards, from 0.
        file: String,
        /// What is wrong with it.
        error: SafeTensorError,
    },
    /// The index of shards (`model.safetensors.index.json`) says what is not so.
    Index(String),
    /// A file is no `.bin` checkpoint of llama2.c, or is damaged.
    Llama2c(Llama2cError),
    /// The header of a file contradicts the type of the model: all contradictions.
    Header(Vec<Contradiction>),
    /// The tensors are not those of the model.
    Tensors {
        /// The model's type.
        model: String,
        /// All that is wrong: first the model's tensors in order, then what the file has besides.
        faults: Vec<Fault>,
    },
}

/// What is wrong with a tensor. `tensor` is its name in the model, `origin` that in the checkpoint.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The scheme knows no tensor that could be this one.
    Unknown {
        /// Of the model.
        tensor: String,
    },
    /// The checkpoint has no such tensor.
    Missing {
        /// Of the model.
        tensor: String,
        /// Of the checkpoint.
        origin: String,
    },
    /// It has another shape.
    Shape {
        /// Of the model.
        tensor: String,
        /// Of the checkpoint.
        origin: String,
        /// The shape that the checkpoint should have.
        expected: Vec<usize>,
        /// The shape that it has.
        found: Vec<usize>,
    },
    /// Its numbers are of a type that is not read.
    Dtype {
        /// Of the model.
        tensor: String,
        /// Of the checkpoint.
        origin: String,
        /// The type.
        found: Dtype,
    },
    /// One of its numbers is infinite or none.
    NotFinite {
        /// Of the model.
        tensor: String,
        /// Of the checkpoint.
        origin: String,
        /// How many come before the first such number in the checkpoint.
        place: usize,
        /// That number.
        found: f32,
    },
    /// The model has no use for it.
    LeftOver {
        /// Of the checkpoint.
        origin: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Two tensors of the checkpoint have the same name, but for prefixes or in two shards.
    Twice {
        /// Of the checkpoint.
        first: String,
        /// Of the checkpoint.
        second: String,
    },
    /// The model's head is its embedding; the checkpoint's is not.
    NotTied {
        /// The head of the checkpoint.
        head: String,
        /// The embedding of the checkpoint.
        embedding: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Malformed { file, error } => write!(f, "{file}: not a safetensors file, or damaged: {error}"),
            Self::Index(text) => f.write_str(text),
            Self::Llama2c(error) => error.fmt(f),
            Self::Header(all) => {
                f.write_str("the header contradicts the type of the model:")?;
                all.iter().try_for_each(|contradiction| write!(f, "\n  {contradiction}"))
            }
            Self::Tensors { model, faults } => {
                write!(f, "the checkpoint is not one of `{model}`:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { tensor } => write!(f, "unknown: {tensor}: the scheme has no tensor for it"),
            Self::Missing { tensor, origin } => write!(f, "missing: {origin}, for {tensor}"),
            Self::Shape { tensor, origin, expected, found } => {
                write!(f, "shape: {origin}: {expected:?} expected for {tensor}, found {found:?}")?;
                if found.len() > 1 && found.iter().eq(expected.iter().rev()) {
                    f.write_str(", which is transposed")?;
                }
                Ok(())
            }
            Self::Dtype { tensor, origin, found } => {
                write!(f, "type: {origin}: F64, F32, F16 or BF16 expected for {tensor}, found {found:?}")
            }
            Self::NotFinite { tensor, origin, place, found } => {
                write!(f, "not finite: {origin}: {found} at place {place}, for {tensor}")
            }
            Self::LeftOver { origin, shape } => write!(f, "left over: {origin} {shape:?}"),
            Self::Twice { first, second } => write!(f, "twice: {first} and {second}"),
            Self::NotTied { head, embedding } => {
                write!(f, "not tied: {head} differs from {embedding}, but the model has one matrix for both")
            }
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            Self::Malformed { error, .. } => Some(error),
            _ => None,
        }
    }
}
