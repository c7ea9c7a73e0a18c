//! Names of modules.

use super::Failure;
use std::{format, path::Path, string::String};

/// Words that no module can be called: those of Rust, and what rustc looks for by itself.
const TAKEN: &str = " abstract as async await become box break const continue crate do dyn else enum extern false final fn for \
     gen if impl in let lib loop macro main match mod move mut override priv pub ref return self static struct super trait \
     true try type typeof unsafe unsized use virtual where while yield ";

fn is_taken(name: &str) -> bool {
    TAKEN.contains(&format!(" {name} "))
}

/// `name`, if a module can be called so.
pub(super) fn checked(name: &str) -> Result<String, Failure> {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let goes_on = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if starts && goes_on && name != "_" && !is_taken(name) {
        Ok(name.into())
    } else {
        Err(Failure::Usage(format!("--name: a name for a Rust module expected, such as `my_model`, found `{name}`")))
    }
}

/// A name after that of a file, or of its folder if all files of such models are called the same.
pub(super) fn of(path: &Path) -> String {
    let folder = || path.parent().and_then(Path::file_name);
    let stem = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("model" | "model.safetensors.index" | "." | "..") => folder().or(path.file_stem()),
        _ => path.file_stem(),
    };
    let stem = if path.is_dir() { path.file_name() } else { stem };
    let name = stem.and_then(|stem| stem.to_str()).unwrap_or("model");
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let bad_start = !name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if bad_start || is_taken(&name) || name == "_" { format!("model_{name}") } else { name }
}
