//! What the user wants.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    str::FromStr,
};

pub(crate) const USAGE: &str = "\
usage: nanogpt [--text FILE] [--steps N] [--rate RATE] [--dropout RATE] [--seed N] [--checkpoint FILE] [--curve FILE.svg] [--at-most LOSS]

  --text FILE        learn to write as this text does, of 256 different characters at most; without it, learn to add
  --steps N          steps of training, 2000 by default
  --rate RATE        the highest rate of learning: 0.003 of a text, 0.001 of sums by default
  --dropout RATE     0 by default
  --seed N           1337 by default
  --checkpoint FILE  go on from there, if it is there; it is written every 250 steps and at the end
  --curve FILE.svg   draw the losses, to nanogpt.svg in the folder for temporary files by default
  --at-most LOSS     fail if the loss of validation is higher in the end";

pub(crate) struct Options {
    pub(crate) text: Option<PathBuf>,
    pub(crate) steps: u32,
    pub(crate) rate: Option<f32>,
    pub(crate) dropout: f32,
    pub(crate) seed: u64,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) curve: PathBuf,
    pub(crate) at_most: Option<f64>,
}

impl Options {
    /// `None`: only the usage is wanted.
    pub(crate) fn parse(mut rest: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self {
            text: None,
            steps: 2000,
            rate: None,
            dropout: 0.0,
            seed: 1337,
            checkpoint: None,
            curve: std::env::temp_dir().join("nanogpt.svg"),
            at_most: None,
        };
        while let Some(option) = rest.next() {
            let name = option.to_string_lossy().into_owned();
            if matches!(name.as_str(), "--help" | "-h") {
                return Ok(None);
            }
            let mut value = || rest.next().ok_or_else(|| format!("{name} wants a value\n\n{USAGE}"));
            match name.as_str() {
                "--text" => options.text = Some(value()?.into()),
                "--steps" => options.steps = number(&name, &value()?)?,
                "--rate" => options.rate = Some(number(&name, &value()?)?),
                "--dropout" => options.dropout = number(&name, &value()?)?,
                "--seed" => options.seed = number(&name, &value()?)?,
                "--checkpoint" => options.checkpoint = Some(value()?.into()),
                "--curve" => options.curve = value()?.into(),
                "--at-most" => options.at_most = Some(number(&name, &value()?)?),
                _ => return Err(format!("unknown option {name}\n\n{USAGE}")),
            }
        }
        Ok(Some(options))
    }
}

fn number<N: FromStr>(name: &str, value: &OsStr) -> Result<N, String> {
    let text = value.to_string_lossy();
    text.parse().map_err(|_| format!("a number expected after {name}, found {text}"))
}
