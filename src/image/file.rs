//! Images on disk.

use super::{ImageError, Info, decode::checked, encode};
use crate::{
    boxed::{Boxed, boxed},
    parameters::{Parameters, TypeName},
};
use core::{error::Error, fmt};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    string::{String, ToString},
    sync::atomic::{AtomicU32, Ordering},
};

/// Writes the image of `model` to the file `path`: whole or not at all. A file that is there is replaced when the new one is
/// complete and on disk; of several writers at once, one is the last.
///
/// # Errors
///
/// Those of the file system, and [`InvalidInput`](io::ErrorKind::InvalidInput) if what is there is no file (a folder, a device);
/// then it is still there as it was.
pub fn write<M: Parameters>(path: impl AsRef<Path>, model: &M) -> io::Result<()> {
    Part::write(path.as_ref(), |write| encode(model, write))?.put()
}

/// A file that is complete and on disk, but not yet under its name. It is gone when it is dropped before it is put there.
pub(crate) struct Part {
    path: PathBuf,
    part: PathBuf,
}

impl Part {
    /// Writes what `content` hands on, beside `path`.
    pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn FnMut(&[u8]))) -> io::Result<Self> {
        Self::replacing(path, content).map_err(|error| about(path, &error))
    }

    fn replacing(path: &Path, content: impl FnOnce(&mut dyn FnMut(&[u8]))) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()); // a link stays, what it points to is replaced
        let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "the path of a file expected");
        let name = path.file_name().ok_or_else(no_file)?;
        if path.exists() && !path.is_file() {
            return Err(no_file());
        }
        let (part, file) = create_part(&path, name)?;
        let part = Self { path, part };
        write_all(file, content)?;
        Ok(part)
    }

    /// Gives the file its name.
    pub(crate) fn put(self) -> io::Result<()> {
        fs::rename(&self.part, &self.path).map_err(|error| about(&self.path, &error))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part); // not there any more, or the first error is the one to tell
    }
}

/// A new file beside `path`.
fn create_part(path: &Path, name: &OsStr) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut part = name.to_os_string();
        part.push(std::format!(".{}-{}.part", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let part = path.with_file_name(part);
        match File::create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {} // left by a process of the same number
            file => return file.map(|file| (part, file)),
        }
    }
}

fn write_all(file: File, content: impl FnOnce(&mut dyn FnMut(&[u8]))) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let mut written = Ok(());
    content(&mut |bytes| {
        if written.is_ok() {
            written = file.write_all(bytes);
        }
    });
    written?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// `error` with the path in its text.
pub(super) fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), std::format!("{}: {error}", path.display()))
}

/// Reads the model from the image in the file `path`.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be read or is no undamaged image of a model of this type.
pub fn read<M: Parameters>(path: impl AsRef<Path>) -> Result<Boxed<M>, ReadError> {
    let path = path.as_ref();
    let image = fs::read(path).map_err(|error| ReadError::File(about(path, &error)))?;
    let weights = checked::<M>(&image).map_err(|error| ReadError::image::<M>(path, error, &image))?;
    let mut model = boxed::<M>();
    let mut rest = weights;
    model.for_each_tensor_mut(|_, mut tensor| tensor.numbers_mut().copy_from_bytes(&mut rest));
    Ok(model)
}

/// A file does not give a model.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read.
    File(io::Error),
    /// It is no image of the model.
    Image {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ImageError,
        /// The type of the model that is wanted.
        expected: String,
        /// The type of the model that the image says that it holds, if it can be told.
        found: Option<String>,
    },
}

impl ReadError {
    /// That `image`, the content of `path`, is none of the model `M`.
    pub(super) fn image<M>(path: &Path, error: ImageError, image: &[u8]) -> Self {
        // A damaged text must not reach a terminal as it is.
        let printable = |text: &str| text.replace(char::is_control, "\u{fffd}");
        let found = Info::parse(image).ok().map(|info| printable(info.description));
        Self::Image { path: path.into(), error, expected: TypeName::of::<M>().to_string(), found }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Image { path, error, expected, found } => {
                write!(f, "{}: {error}", path.display())?;
                match found {
                    Some(found) if found == expected => {
                        write!(f, "; it says that it holds `{found}`, so it is damaged or of another version")
                    }
                    Some(found) => write!(f, "; it says that it holds `{found}`, and `{expected}` is wanted"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Error for ReadError {} // its text is that of its cause
