//! `constformer verify`

use super::{
    Failure, Verify,
    source::{described, read},
    table::grouped,
};
use crate::{blueprint::Model, image::Info, parameters::Walk};
use std::{
    format,
    io::Write,
    string::{String, ToString},
};

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
    let weights = match &blueprint {
        Some(blueprint) => {
            if let Some((name, place, found)) = not_finite(&Model::from_bytes(blueprint, info.weights)) {
                return Err(failure(format!("a finite number expected, found {found} at place {place} of {name}")));
            }
            format!("{}, all finite", grouped(blueprint.count(), ","))
        }
        // Of an unknown type it is not known which of its bytes are which numbers.
        None => format!("{} bytes", grouped(info.weights.len() as u64, ",")),
    };

    writeln!(out, "{}: an undamaged image", path.display())?;
    writeln!(
        out,
        "type         {}",
        blueprint.as_ref().map_or(info.description.into(), |of| format!("{}", of.expression()))
    )?;
    writeln!(out, "fingerprint  {}", info.fingerprint)?;
    writeln!(out, "weights      {weights}")?;
    if blueprint.is_none() {
        let text = "The type is none of this library, so whether the fingerprint is right only the crate that has the type can check:";
        writeln!(out, "{text}\nby `include_model!` or `image::from_bytes`.")?;
    }
    Ok(())
}

/// The first number that is not finite: the name of its tensor, its place there, row by row, and what it is.
fn not_finite(model: &Model<'_>) -> Option<(String, usize, f32)> {
    let mut first = None;
    model.tensors(&mut |name, tensor| {
        if first.is_none()
            && let Some((place, found)) = tensor.row_major().enumerate().find(|(_, number)| !number.is_finite())
        {
            first = Some((name.to_string(), place, found));
        }
    });
    first
}
