//! `constformer import`

use super::{
    Failure, Import, module, name, progress,
    source::{self, Source},
    table::grouped,
};
use crate::{
    blueprint::{Config, Model},
    image::{Part, encode_any},
    load::Checkpoint,
};
use core::cell::Cell;
use std::{
    format, fs,
    io::Write,
    path::{Path, PathBuf},
};

pub(super) fn import(arguments: &Import, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    let Import { file, config, out: folder, name, force } = arguments;
    let name = match name {
        Some(name) => name::checked(name)?,
        None => name::of(file),
    };
    let outputs = ["cfm", "rs"].map(|extension| folder.join(format!("{name}.{extension}")));
    if !force {
        refuse_existing(&outputs)?;
    }
    let (checkpoint, config) = open(file, config.as_ref())?;
    let bar = progress::bar(2 * config.blueprint.bytes());
    let tick = |bytes| bar.inc(bytes);
    let model = source::model(file, &checkpoint, &config, &tick)?;
    let from = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let module = module::render(&config.blueprint, &name, &from);

    write(&model, &module, folder, &outputs, *force, &tick)?;
    bar.finish_and_clear();
    if let Some(note) = source::unread(&config) {
        writeln!(err, "{note}")?;
    }
    let [image, module] = outputs.each_ref().map(|path| path.display());
    writeln!(out, "type         {}", config.blueprint.expression())?;
    writeln!(out, "wrote        {image}, {} bytes of weights", grouped(config.blueprint.bytes(), ","))?;
    writeln!(out, "wrote        {module}, for `mod {name};`")?;
    Ok(())
}

fn open(file: &Path, config: Option<&PathBuf>) -> Result<(Checkpoint<'static>, Config), Failure> {
    match Source::open(file)? {
        Source::Image(_) => Err(Failure::Usage(format!("a checkpoint expected, found an image: {}", file.display()))),
        Source::Llama2c(..) if config.is_some() => {
            Err(Failure::Usage(format!("--config is for safetensors; {} says itself what it is", file.display())))
        }
        Source::Llama2c(checkpoint, header) => {
            let config = source::of_llama2c(file, &header)?;
            Ok((checkpoint, config))
        }
        Source::Safetensors(checkpoint) => {
            let Some(path) = source::config_path(file, config) else {
                let text = "which model it is, a config.json says: expected beside it or by --config, found none";
                return Err(Failure::Usage(format!("{}: {text}", file.display())));
            };
            let config = source::config(&path, &checkpoint)?;
            Ok((checkpoint, config))
        }
    }
}

pub(super) fn refuse_existing(outputs: &[PathBuf; 2]) -> Result<(), Failure> {
    match outputs.iter().find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(Failure::file(path, "is there already: replace it with --force")),
        None => Ok(()),
    }
}

/// Both files and their folder, or nothing, but for a file system that gives up between two names.
pub(super) fn write(
    model: &Model<'_>,
    module: &str,
    folder: &Path,
    outputs: &[PathBuf; 2],
    force: bool,
    tick: &dyn Fn(u64),
) -> Result<(), Failure> {
    let is_new = !folder.exists();
    fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    write_both(model, module, outputs, force, tick).inspect_err(|_| {
        if is_new {
            let _ = fs::remove_dir(folder); // empty, or else it stays
        }
    })
}

fn write_both(
    model: &Model<'_>,
    module: &str,
    outputs: &[PathBuf; 2],
    force: bool,
    tick: &dyn Fn(u64),
) -> Result<(), Failure> {
    let failure = |error: std::io::Error| Failure::File(format!("{error}"));
    let [image_path, module_path] = outputs;
    let told = Cell::new(0);
    let image = Part::write(image_path, |write| {
        encode_any(model, |bytes| {
            write(bytes);
            told.set(told.get() + bytes.len() as u64);
            if told.get() >= 1 << 20 {
                tick(told.take());
            }
        });
    });
    let image = image.map_err(failure)?;
    let module = Part::write(module_path, |write| write(module.as_bytes())).map_err(failure)?;
    if !force {
        refuse_existing(outputs)?; // by someone else since
    }
    let is_new = !image_path.exists();
    image.put().map_err(failure)?;
    module.put().map_err(|error| {
        if is_new {
            let _ = fs::remove_file(image_path); // the first error is the one to tell
        }
        failure(error)
    })
}
