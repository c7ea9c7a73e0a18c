//! The document of the results: the tables go between two marks, the pictures beside it.

use crate::{growth::Series, plot, report::Report};
use std::{error::Error, fs, path::Path};

const BEGIN: &str = "<!-- measured: written by benches/peers -->\n";
const END: &str = "<!-- end of what is measured -->\n";

/// Replaces what is between the marks of `performance.md` in `folder`, and draws the pictures.
///
/// # Errors
///
/// If there is no such document, or it has no marks, or it cannot be written.
pub fn write(folder: &Path, text: &str, reports: &[Report], series: &[Series]) -> Result<(), Box<dyn Error>> {
    let path = folder.join("performance.md");
    let document = fs::read_to_string(&path)?;
    let (before, rest) = document.split_once(BEGIN).ok_or("performance.md does not have the first mark")?;
    let (_, after) = rest.split_once(END).ok_or("performance.md does not have the second mark")?;
    let mut pictures = String::new();
    for report in reports {
        let name = format!("ratios-{}-pages.svg", report.pages);
        plot::ratios(report, &folder.join(&name))?;
        let picture = format!("![The time of each framework by ours, {} pages]({name})\n\n", report.pages);
        pictures.push_str(&picture);
    }
    if let (false, Some(report)) = (series.is_empty(), reports.first()) {
        plot::growth(series, report.core.gflops, &folder.join("growth.svg"))?;
        pictures += "![Our rate as a part of the peak](growth.svg)\n\n";
    }
    fs::write(path, format!("{before}{BEGIN}\n{text}{pictures}{END}{after}"))?;
    Ok(())
}
