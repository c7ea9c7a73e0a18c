//! Tables of texts and numbers.

use std::{
    format,
    io::{self, Write},
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// A number in groups of three digits.
pub(super) fn grouped(n: u64, separator: &str) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// Rows of as many columns as there are in the first; all but the first `left` columns are set right.
pub(super) fn print(out: &mut dyn Write, rows: &[Vec<String>], left: usize) -> io::Result<()> {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (text, width))| if i < left { format!("{text:<width$}") } else { format!("{text:>width$}") });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
