//! Images on disk.

use super::{ImageError, Info, decode::checked, encode};
use crate::{parameters::Parameters, plain::boxed};
use core::{error::Error, fmt};
use std::{
    boxed::Box,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
    process,
    string::{String, ToString},
};

/// Writes the image of `model` to the file `path`: whole or not at all. A file that is there is replaced when the new one is
/// complete and on disk.
///
/// # Errors
///
/// Those of the file system; then what was there before is still there.
pub fn write<M: Parameters>(path: impl AsRef<Path>, model: &M) -> io::Result<()> {
    let path = path.as_ref();
    let mut name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?.to_os_string();
    name.push(std::format!(".{}.part", process::id()));
    let part = path.with_file_name(name);
    let written = write_part(&part, model).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part); // it may never have been made
    }
    written
}

fn write_part<M: Parameters>(path: &Path, model: &M) -> io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    let mut written = Ok(());
    encode(model, |bytes| {
        if written.is_ok() {
            written = file.write_all(bytes);
        }
    });
    written?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Reads the model from the image in the file `path`.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be read or is no undamaged image of a model of this type.
pub fn read<M: Parameters>(path: impl AsRef<Path>) -> Result<Box<M>, ReadError> {
    let image = fs::read(path).map_err(ReadError::File)?;
    let weights = checked::<M>(&image).map_err(|error| {
        let description = Info::parse(&image).map_or_else(|_| String::new(), |info| info.description.to_string());
        ReadError::Image { error, description }
    })?;
    let mut model = boxed::<M>();
    let mut numbers = weights.as_chunks().0.iter();
    model.for_each_tensor_mut(|_, mut tensor| {
        for (stored, bytes) in tensor.stored_mut().iter_mut().zip(&mut numbers) {
            *stored = f32::from_le_bytes(*bytes);
        }
    });
    Ok(model)
}

/// A file does not give a model.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read.
    File(io::Error),
    /// It is no image of the model.
    Image {
        /// What is wrong with it.
        error: ImageError,
        /// The type of the model that the image holds, as far as it can be told.
        description: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Image { error, description } if description.is_empty() => error.fmt(f),
            Self::Image { error, description } => write!(f, "{error}; it holds `{description}`"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Image { error, .. } => Some(error),
        }
    }
}
