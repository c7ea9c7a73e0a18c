//! `constformer quantize`

use super::{
    Failure, Quantize,
    import::{refuse_existing, write},
    module, name,
    samples::Samples,
    source::{described, read},
    table::{self, grouped},
};
use crate::{
    blueprint::{Blueprint, Format, Model, Runner},
    image::Info,
    parameters::{Numbers, Walk},
};
use std::{
    format,
    io::Write,
    path::Path,
    string::{String, ToString},
    vec,
    vec::Vec,
};

pub(super) fn quantize(arguments: &Quantize, out: &mut dyn Write) -> Result<(), Failure> {
    let Quantize { image: path, format, out: folder, name, samples, force } = arguments;
    let name = match name {
        Some(name) => name::checked(name)?,
        None => format!("{}_{}", name::of(path), format.to_lowercase()),
    };
    let outputs = ["cfm", "rs"].map(|extension| folder.join(format!("{name}.{extension}")));
    if !force {
        refuse_existing(&outputs)?;
    }
    let image = read(path)?;
    let failure = |error: &dyn core::fmt::Display| Failure::file(path, error);
    let info = Info::parse(&image).map_err(|error| failure(&error))?;
    info.is_undamaged(&image).map_err(|error| failure(&error))?;
    let Some(blueprint) = described(info.description) else {
        let text = "a model of this library expected; in a program of yours, `constformer::quantize` takes any. Found";
        return Err(failure(&format!("{text} `{}`", info.description)));
    };
    info.is_of(&image, blueprint.fingerprint(), blueprint.bytes()).map_err(|error| failure(&error))?;
    let to = Blueprint::of(&blueprint.expression().in_format(format)).map_err(|error| failure(&error))?;
    if to.fingerprint() == blueprint.fingerprint() {
        return Err(failure(&format!(
            "a model in another format than {format} expected, found `{}`",
            blueprint.expression()
        )));
    }

    let model = Model::from_bytes(&blueprint, info.weights);
    let mut quantized = Model::new(&to, &|_| ());
    quantized.copy_from(&model);
    let samples = match samples {
        Some(path) => Some(compared(path, [&model, &quantized], [&blueprint, &to])?),
        None => None,
    };
    let from = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let module = module::render(&to, &name, &from);
    write(&quantized, &module, folder, &outputs, *force, &|_| ())?;

    table::print(out, &report(&model, &quantized), 2)?;
    out.write_all(&samples.unwrap_or_default())?;
    let [image, module] = outputs.each_ref().map(|path| path.display());
    writeln!(out, "\ntype         {}", to.expression())?;
    let [before, after] = [blueprint.bytes(), to.bytes()].map(|bytes| grouped(bytes, ","));
    writeln!(out, "wrote        {image}, {after} bytes of weights instead of {before}")?;
    writeln!(out, "wrote        {module}, for `mod {name};`")?;
    Ok(())
}

/// What the samples in `path` say of both models.
fn compared(path: &Path, models: [&Model<'_>; 2], blueprints: [&Blueprint; 2]) -> Result<Vec<u8>, Failure> {
    let [model, quantized] = models;
    let [of_model, of_quantized] = blueprints.map(Blueprint::expression);
    let usage = |found| {
        Failure::Usage(format!(
            "--samples: a `Classifier` of a `PatchEmbedding` and an `Encoder` expected, found {found}"
        ))
    };
    let before = Runner::new(model, of_model).map_err(usage)?;
    let after = Runner::new(quantized, of_quantized).map_err(usage)?;
    let mut text = Vec::from(*b"\n");
    Samples::read(path, &before)?.compare(&before, &after, &mut text)?;
    Ok(text)
}

/// What became of each tensor whose format is another now.
fn report(before: &Model<'_>, after: &Model<'_>) -> Vec<Vec<String>> {
    let mut rows =
        vec![["tensor", "shape", "greatest weight", "greatest error", "noise, dB"].map(String::from).to_vec()];
    let mut tensors = Vec::new();
    before.tensors(&mut |_, tensor| tensors.push(tensor));
    let mut tensors = tensors.into_iter();
    after.tensors(&mut |name, after| {
        let Some(before) = tensors.next() else { return };
        if matches!((before.numbers(), after.numbers()), (Numbers::F32(_), Numbers::F32(_))) {
            return;
        }
        let (mut greatest, mut error, mut signal, mut noise) = (0.0, 0.0, 0.0, 0.0);
        for (x, y) in before.row_major().zip(after.row_major()) {
            let (x, y) = (f64::from(x), f64::from(y));
            greatest = x.abs().max(greatest);
            error = (y - x).abs().max(error);
            signal += x * x;
            noise += (y - x) * (y - x);
        }
        let decibels = if noise > 0.0 { format!("{:.1}", 10.0 * (noise / signal).log10()) } else { "none".into() };
        rows.push(vec![
            name.to_string(),
            after.shape().to_string(),
            format!("{greatest:.4}"),
            format!("{error:.5}"),
            decibels,
        ]);
    });
    rows
}

/// The formats that a model can be quantised to.
pub(super) fn formats() -> Vec<&'static str> {
    Format::ALL.iter().map(|(name, _)| *name).filter(|name| *name != "f32").collect()
}
