//! What a file is.

use super::Failure;
use crate::{
    blueprint::{self, Blueprint, Config, Model},
    load::{Checkpoint, Llama2cHeader, LoadError},
};
use std::{
    fs,
    path::{Path, PathBuf},
    string::{String, ToString},
    vec::Vec,
};

pub(super) enum Source {
    Image(Vec<u8>),
    Llama2c(Checkpoint<'static>, Llama2cHeader),
    Safetensors(Checkpoint<'static>),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let is = |extension: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
        let load = |error: LoadError| match error {
            LoadError::File { .. } | LoadError::Malformed { .. } | LoadError::Index(_) => {
                Failure::File(error.to_string())
            }
            error => Failure::file(path, error),
        };
        if path.is_dir() || is("json") {
            return Checkpoint::open(path).map(Self::Safetensors).map_err(load);
        }
        let bytes = read(path)?;
        if bytes.starts_with(b"\x89CFM") || is("cfm") {
            return Ok(Self::Image(bytes));
        }
        if bytes.starts_with(b"PK\x03\x04") || is("pt") || is("pth") {
            let text =
                "a safetensors file expected, found a pickle of PyTorch: write it with `safetensors.torch.save_file`";
            return Err(Failure::file(path, text));
        }
        if is("bin") {
            let header = Llama2cHeader::parse(&bytes).map_err(|error| Failure::file(path, error))?;
            return Checkpoint::from_llama2c(bytes).map(|checkpoint| Self::Llama2c(checkpoint, header)).map_err(load);
        }
        Checkpoint::named(&path.display().to_string(), bytes).map(Self::Safetensors).map_err(load)
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(path, error))
}

/// The config.json that was asked for, or else the one beside the checkpoint, if there is one.
pub(super) fn config_path(checkpoint: &Path, asked: Option<&PathBuf>) -> Option<PathBuf> {
    let folder = if checkpoint.is_dir() { Some(checkpoint) } else { checkpoint.parent() };
    asked.cloned().or_else(|| folder.map(|folder| folder.join("config.json")).filter(|path| path.is_file()))
}

/// What the config.json at `path` says of a checkpoint.
pub(super) fn config(path: &Path, checkpoint: &Checkpoint<'_>) -> Result<Config, Failure> {
    let pooling = path.with_file_name("1_Pooling").join("config.json");
    let pooling = if pooling.is_file() { Some(read(&pooling)?) } else { None };
    Config::read(&read(path)?, pooling.as_deref(), checkpoint).map_err(|error| Failure::file(path, error))
}

/// What the header of a llama2.c checkpoint says.
pub(super) fn of_llama2c(path: &Path, header: &Llama2cHeader) -> Result<Config, Failure> {
    blueprint::of_llama2c(header).map_err(|error| Failure::file(path, error))
}

/// The model of a checkpoint; `progress` is told of the bytes.
pub(super) fn model<'b>(
    path: &Path,
    checkpoint: &Checkpoint<'_>,
    config: &'b Config,
    progress: &'b dyn Fn(u64),
) -> Result<Model<'b>, Failure> {
    let mut model = Model::new(&config.blueprint, progress);
    (config.fill)(checkpoint, &mut model).map_err(|error| Failure::file(path, error))?;
    Ok(model)
}

/// What to say of keys that nobody has looked at.
pub(super) fn unread(config: &Config) -> Option<String> {
    let keys = config.unread.join(", ");
    if keys.is_empty() {
        None
    } else {
        Some(std::format!("note: config.json also says, and it was not looked at: {keys}"))
    }
}

/// The type that the description of an image names, if it is one of this library.
pub(super) fn described(description: &str) -> Option<Blueprint> {
    Blueprint::parse(description).ok()
}
