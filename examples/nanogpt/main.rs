//! `cargo run --release --example nanogpt [-- --text FILE]`: a character-level GPT learns to add, or to write as a text does.
//!
//! The model and its training are nanoGPT's for processors: 4 layers, 4 heads, width 128, texts of 64 characters, 12 in a batch; or as many
//! characters of sums.

mod corpus;
mod curve;
mod options;
mod train;

use corpus::Corpus;
use options::Options;
use std::{error::Error, process::ExitCode};

fn run() -> Result<(), Box<dyn Error>> {
    let Some(options) = Options::parse(std::env::args_os().skip(1))? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let corpus = match &options.text {
        Some(path) => Corpus::read(path)?,
        None => Corpus::additions(),
    };
    // The vocabulary is a part of the model's type; what a text does not use of it, the model learns not to say.
    match corpus.alphabet.len() {
        ..=16 => train::run::<16>(&corpus, &options),
        17..=65 => train::run::<65>(&corpus, &options),
        66..=256 => train::run::<256>(&corpus, &options),
        found => Err(format!("a text of 256 different characters at most expected, found {found}").into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nanogpt: {error}");
            ExitCode::FAILURE
        }
    }
}
