//! `cargo run --release --example pictures [-- --check]`: draws the pictures of the documents into `docs`.
//!
//! Each is computed by the library: tables of positions, what a model attends to, what a type takes. With `--check` nothing is written, and
//! files that are not as they would be drawn are an error; `cargo test --test pictures` checks the same.

mod draw;

use std::{error::Error, fs, path::Path, process::ExitCode};

fn run() -> Result<(), Box<dyn Error>> {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => return Err(format!("`--check` or nothing expected, found {other}").into()),
    };
    for (name, picture) in draw::all()? {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        if !check {
            fs::write(&path, &picture)?;
        } else if fs::read_to_string(&path)? != picture {
            return Err(format!("docs/{name} is not what `cargo run --release --example pictures` draws").into());
        }
        println!("docs/{name}: {} bytes", picture.len());
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pictures: {error}");
            ExitCode::FAILURE
        }
    }
}
