//! `constformer verify`

use super::{
    Failure, Verify,
    source::{described, read},
    table::grouped,
};
use crate::{blueprint::Blueprint, image::Info};
use std::{format, io::Write, string::String};

pub(super) fn verify(arguments: &Verify, out: &mut dyn Write) -> Result<(), Failure> {
    let path = &arguments.image;
    let image = read(path)?;
    let failure = |error| Failure::file(path, error);
    let info = Info::parse(&image).map_err(|error| failure(format!("{error}")))?;
    info.is_undamaged(&image).map_err(|error| failure(format!("{error}")))?;
    let blueprint = described(info.description);
    if let Some(blueprint) = &blueprint {
        info.is_of(&image, blueprint.fingerprint(), blueprint.bytes()).map_err(|error| {
            let whose = "written by another version, or a type of your own that is called like one of this library";
            failure(format!("{error}; the image says that it holds `{}`: {whose}", info.description))
        })?;
    }
    let numbers = info.weights.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    if let Some((place, found)) = numbers.clone().enumerate().find(|(_, x)| !x.is_finite()) {
        let place = place_in(blueprint.as_ref(), place as u64);
        return Err(failure(format!("a finite number expected, found {found} at place {place}")));
    }

    writeln!(out, "{}: an undamaged image", path.display())?;
    writeln!(
        out,
        "type         {}",
        blueprint.as_ref().map_or(info.description.into(), |of| format!("{}", of.expression()))
    )?;
    writeln!(out, "fingerprint  {}", info.fingerprint)?;
    writeln!(out, "weights      {}, all finite", grouped(numbers.len() as u64, ","))?;
    if blueprint.is_none() {
        let text = "The type is none of this library, so whether the fingerprint is right only the crate that has the type can check:";
        writeln!(out, "{text}\nby `include_model!` or `image::from_bytes`.")?;
    }
    Ok(())
}

/// Where the number is that comes after `place` others, in words.
fn place_in(blueprint: Option<&Blueprint>, place: u64) -> String {
    let mut before = 0;
    for (name, shape) in blueprint.map(Blueprint::tensors).unwrap_or_default() {
        let count = shape.dimensions().iter().map(|n| *n as u64).product::<u64>();
        if place < before + count {
            return format!("{} of {name}, as it is stored", place - before);
        }
        before += count;
    }
    format!("{place} of the weights")
}
