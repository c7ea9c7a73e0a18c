//! Tensors by name, from one file or several.

use super::{LoadError, numbers::Numbers, shards};
use core::ops::Range;
use safetensors::{Dtype, SafeTensors};
use std::{borrow::Cow, collections::BTreeMap, format, fs, path::Path, string::String, vec::Vec};

/// The tensors of safetensors files, not yet looked at.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint<'a> {
    pub(super) files: Vec<Cow<'a, [u8]>>,
    pub(super) tensors: BTreeMap<String, Stored>,
    /// Tensors that a later shard has too.
    pub(super) twice: Vec<String>,
}

/// Where a tensor lies.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) file: usize,
    pub(super) bytes: Range<usize>,
}

impl<'a> Checkpoint<'a> {
    /// The tensors of a file. `bytes` may lie at any address.
    ///
    /// # Errors
    ///
    /// [`LoadError::Malformed`] if they are no safetensors file.
    pub fn from_bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, LoadError> {
        Self::from_shards([bytes])
    }

    /// The tensors of all the files into which a large checkpoint is cut.
    ///
    /// # Errors
    ///
    /// [`LoadError::Malformed`] if one is no safetensors file.
    pub fn from_shards<B: Into<Cow<'a, [u8]>>>(shards: impl IntoIterator<Item = B>) -> Result<Self, LoadError> {
        let mut checkpoint = Self::default();
        for (i, bytes) in shards.into_iter().enumerate() {
            checkpoint.add(&format!("file {i}"), bytes.into())?;
        }
        Ok(checkpoint)
    }

    /// Reads a checkpoint: a `.safetensors` file, the `.json` index of shards, or a folder that has `model.safetensors` or
    /// `model.safetensors.index.json`.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if a file cannot be read, is no safetensors file, or is not what the index says.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint<'static>, LoadError> {
        let path = path.as_ref();
        if path.is_dir() {
            let file = path.join("model.safetensors");
            let index = path.join("model.safetensors.index.json");
            return if index.exists() && !file.exists() { shards::open(&index) } else { Checkpoint::open(file) };
        }
        if path.extension().is_some_and(|extension| extension == "json") {
            return shards::open(path);
        }
        let mut checkpoint = Checkpoint::default();
        checkpoint.add(&format!("{}", path.display()), read(path)?.into())?;
        Ok(checkpoint)
    }

    /// Only the tensors whose names begin with `prefix`, which is cut off: a part of a larger model.
    #[must_use]
    pub fn part(mut self, prefix: &str) -> Self {
        let cut = |(name, stored): (String, Stored)| Some((name.strip_prefix(prefix)?.into(), stored));
        self.tensors = self.tensors.into_iter().filter_map(cut).collect();
        self.twice = self.twice.iter().filter_map(|name| name.strip_prefix(prefix).map(Into::into)).collect();
        self
    }

    /// Only the tensors whose names do not begin with `prefix`: to say that you know of what would be left over.
    #[must_use]
    pub fn without(mut self, prefix: &str) -> Self {
        self.tensors.retain(|name, _| !name.starts_with(prefix));
        self.twice.retain(|name| !name.starts_with(prefix));
        self
    }

    /// The names and shapes of the tensors, sorted.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors.iter().map(|(name, stored)| (name.as_str(), stored.shape.as_slice()))
    }

    /// The tensors of a file, which errors call `name`.
    #[cfg(feature = "cli")]
    pub(crate) fn named(name: &str, bytes: Vec<u8>) -> Result<Self, LoadError> {
        let mut checkpoint = Self::default();
        checkpoint.add(name, bytes.into())?;
        Ok(checkpoint)
    }

    /// The names, types and shapes of the tensors, sorted.
    #[cfg(feature = "cli")]
    pub(crate) fn stored(&self) -> impl Iterator<Item = (&str, Dtype, &[usize])> {
        self.tensors.iter().map(|(name, stored)| (name.as_str(), stored.dtype, stored.shape.as_slice()))
    }

    /// Adds the tensors of a file, which errors call `name`.
    pub(super) fn add(&mut self, name: &str, bytes: Cow<'a, [u8]>) -> Result<(), LoadError> {
        let (header, metadata) =
            SafeTensors::read_metadata(&bytes).map_err(|error| LoadError::Malformed { file: name.into(), error })?;
        let file = self.files.len();
        for (name, info) in metadata.tensors() {
            let [start, end] =
                [info.data_offsets.0, info.data_offsets.1].map(|offset| offset + size_of::<u64>() + header);
            let stored = Stored { dtype: info.dtype, shape: info.shape.clone(), file, bytes: start..end };
            if self.tensors.insert(name.clone(), stored).is_some() {
                self.twice.push(name);
            }
        }
        self.files.push(bytes);
        Ok(())
    }

    /// The bytes of a tensor.
    pub(super) fn bytes(&self, stored: &Stored) -> &[u8] {
        self.files.get(stored.file).and_then(|file| file.get(stored.bytes.clone())).unwrap_or_default()
    }

    /// The numbers of a tensor; `None` if they are of a type that is not read.
    pub(super) fn numbers(&self, stored: &Stored) -> Option<Numbers<'_>> {
        Numbers::new(stored.dtype, self.bytes(stored))
    }
}

/// The bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|error| LoadError::File { path: path.into(), error })
}
