//! `constformer inspect`

use super::{
    Failure, Inspect,
    source::{self, Source},
    table::{self, grouped},
};
use crate::{blueprint::Blueprint, image, load::Checkpoint};
use std::{
    format,
    io::{self, Write},
    path::Path,
    string::{String, ToString},
    vec,
    vec::Vec,
};

pub(super) fn inspect(arguments: &Inspect, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    let Inspect { file, config, .. } = arguments;
    let source = Source::open(file)?;
    if config.is_some() && !matches!(source, Source::Safetensors(_)) {
        return Err(Failure::Usage(format!("--config is for safetensors; {} says itself what it is", file.display())));
    }
    match source {
        Source::Image(image) => of_image(arguments, &image, out),
        Source::Llama2c(checkpoint, header) => {
            let config = source::of_llama2c(file, &header)?;
            source::model(file, &checkpoint, &config, &|_| ())?;
            writeln!(out, "{}: a checkpoint of llama2.c", file.display())?;
            of_type(arguments, &config.blueprint, out)
        }
        Source::Safetensors(checkpoint) => {
            let Some(path) = source::config_path(file, config.as_ref()) else {
                let hint = "which model this is, a config.json says: give one with --config";
                return Ok(of_tensors(file, &checkpoint, hint, out)?);
            };
            let found = match source::config(&path, &checkpoint) {
                Err(Failure::File(text)) if config.is_none() => {
                    return Ok(of_tensors(file, &checkpoint, &format!("{text}\nanother config.json: --config"), out)?);
                }
                found => found?,
            };
            source::model(file, &checkpoint, &found, &|_| ())?;
            writeln!(out, "{}: safetensors, a model as {} says", file.display(), path.display())?;
            of_type(arguments, &found.blueprint, out)?;
            if let Some(note) = source::unread(&found) {
                writeln!(err, "{note}")?;
            }
            Ok(())
        }
    }
}

fn of_image(arguments: &Inspect, image: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    let file = &arguments.file;
    let info = image::Info::parse(image).map_err(|error| Failure::file(file, error))?;
    let title = format!("{}: an image", file.display());
    match source::described(info.description) {
        Some(blueprint) if blueprint.fingerprint() == info.fingerprint => {
            let is_whole = info.is_of(image, info.fingerprint, blueprint.bytes());
            is_whole.map_err(|error| Failure::file(file, error))?;
            writeln!(out, "{title}")?;
            of_type(arguments, &blueprint, out)
        }
        _ => {
            writeln!(out, "{title}")?;
            writeln!(out, "type         {}, which is not one of this library", info.description)?;
            writeln!(out, "fingerprint  {}", info.fingerprint)?;
            writeln!(out, "flash        {} bytes", grouped(info.weights.len() as u64, ","))?;
            Ok(())
        }
    }
}

/// The tensors of a checkpoint of which no more is known.
fn of_tensors(file: &Path, checkpoint: &Checkpoint<'_>, hint: &str, out: &mut dyn Write) -> io::Result<()> {
    let row =
        |name: &str, dtype: &str, shape: &str, numbers: &str| [name, dtype, shape, numbers].map(String::from).to_vec();
    let mut rows = vec![row("tensor", "dtype", "shape", "numbers")];
    let mut total = 0u64;
    for (name, dtype, shape) in checkpoint.stored() {
        let numbers = shape.iter().map(|n| *n as u64).product();
        total += numbers;
        rows.push(row(name, &format!("{dtype:?}"), &format!("{shape:?}"), &grouped(numbers, ",")));
    }
    let tensors = rows.len() - 1;
    rows.push(row("total", "", "", &grouped(total, ",")));
    writeln!(out, "{}: safetensors, {tensors} tensors\n", file.display())?;
    table::print(out, &rows, 3)?;
    writeln!(out, "\n{hint}")
}

/// What is known of a type.
fn of_type(arguments: &Inspect, blueprint: &Blueprint, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "type         {}", blueprint.expression())?;
    writeln!(out, "fingerprint  {}", blueprint.fingerprint())?;
    writeln!(out, "parameters   {}", grouped(blueprint.count(), ","))?;
    writeln!(out, "flash        {} bytes", grouped(blueprint.bytes(), ","))?;
    let tile = arguments.tile;
    writeln!(out)?;
    if blueprint.memory(1, 1).is_none() {
        writeln!(out, "Its parts run one by one, so it has no working memory of its own.")?;
        return Ok(());
    }
    let has_cache = blueprint.cached_memory(1, 1).is_some();
    let titles = ["tokens", "tile", "working memory, bytes", "with a cache, bytes", "multiply-adds", "a token"];
    let titles = titles.iter().filter(|title| has_cache || !title.starts_with("with"));
    let mut rows = vec![titles.map(|title| String::from(*title)).collect::<Vec<_>>()];
    let positions = blueprint.hyperparameters().positions.map(|n| n as u64);
    for len in lengths(&arguments.tokens, positions) {
        let (memory, macs) = match positions {
            Some(positions) if len > positions => (format!("there are {positions} positions"), None),
            _ => (grouped(blueprint.memory(len, tile).unwrap_or_default(), ","), blueprint.macs(len as usize)),
        };
        let macs = |by| macs.map_or_else(String::new, |macs| grouped(macs / by, ","));
        let cached = blueprint.cached_memory(len, tile).map(|bytes| grouped(bytes, ","));
        let cached = cached.map(|bytes| if macs(1).is_empty() { String::new() } else { bytes });
        rows.push(
            [len.to_string(), tile.to_string(), memory].into_iter().chain(cached).chain([macs(1), macs(len)]).collect(),
        );
    }
    Ok(table::print(out, &rows, 0)?)
}

/// Those asked for, or else what the model has positions for.
fn lengths(asked: &[u64], positions: Option<u64>) -> Vec<u64> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let longest = positions.unwrap_or(512).min(512);
    let mut lengths: Vec<_> = [16, 128, 512].into_iter().filter(|len| *len < longest).collect();
    lengths.push(longest);
    lengths
}
