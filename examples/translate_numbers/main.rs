//! `cargo run --release --example translate_numbers`: an encoder reads a number in English words, a decoder that attends to it
//! writes the number in German, letter by letter.
//!
//! ```text
//! cargo run --release --example translate_numbers                                   numbers that it was not trained on
//! cargo run --release --example translate_numbers -- 4711 "nine hundred and one"    those that you give
//! ```

mod model;
mod numerals;

use constformer::{Parameters, boxed, include_model};
use model::{Memory, Translator, translate};
use numerals::{english, german, held_out};
use std::{error::Error, process::ExitCode, time::Instant};

static TRANSLATOR: &Translator = include_model!(Translator, "translator.cfm");

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut memory = boxed::<Memory>();
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let Some(option) = given.iter().find(|text| text.starts_with('-')) {
        return Err(format!("numbers from 0 to 9999 or English words expected, found `{option}`").into());
    }
    for text in &given {
        let text = match text.parse::<usize>() {
            Ok(n @ ..10_000) => english(n),
            Ok(n) => return Err(format!("a number below 10000 expected, found {n}").into()),
            Err(_) => text.to_lowercase(),
        };
        println!("{text}\n  {}", translate(TRANSLATOR, &text, &mut memory)?);
    }
    if given.is_empty() {
        all_that_were_held_out(&mut memory)?;
    }
    Ok(())
}

/// Translates all numbers that are not of the training; prints some.
fn all_that_were_held_out(memory: &mut Memory) -> Result<(), Box<dyn Error>> {
    println!("model     Transformer<Vaswani, 2, 32, 64, 4, 28, 64>: 2 + 2 layers, {} parameters", Translator::COUNT);
    println!("task      numbers from 0 to 9999, from English into German; these were held out of the training\n");
    let (mut right, mut letters) = (0, 0);
    let numbers: Vec<usize> = (0..10_000).filter(|n| held_out(*n)).collect();
    let start = Instant::now();
    for (i, n) in numbers.iter().enumerate() {
        let found = translate(TRANSLATOR, &english(*n), memory)?;
        right += usize::from(found == german(*n));
        letters += found.chars().count() + 1;
        if i % 250 == 7 || (found != german(*n) && i - right < 5) {
            let mark = if found == german(*n) { "" } else { "   (wrong)" };
            println!("{:>5}  {}\n       {found}{mark}", n, english(*n));
        }
    }
    let time = start.elapsed();
    let (all, percent) = (numbers.len(), 100.0 * right as f64 / numbers.len() as f64);
    println!("\n{right} of {all} right ({percent:.1} %), {:.1?} a letter", time / u32::try_from(letters)?);
    Ok(())
}
