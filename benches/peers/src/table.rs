//! Reports as tables of Markdown.

use crate::{
    growth::Series,
    report::{Report, Row},
    workload::{self, Workload},
};
use std::{collections::BTreeMap, fmt::Write};

/// Frameworks in the order of the columns: ours, then as they were first seen.
#[must_use]
pub fn names(report: &Report) -> Vec<&str> {
    let mut names = vec![];
    for time in report.rows.iter().flat_map(|row| &row.times) {
        if !names.contains(&&*time.name) {
            names.push(&time.name);
        }
    }
    names
}

fn workload_of(row: &Row) -> Workload {
    workload::all().into_iter().find(|workload| workload.name == row.workload).expect("a workload of that name")
}

/// A table with a header; the first column is text, the others are numbers.
fn table(header: &[String], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(header);
    out.push_str("|---|");
    out.push_str(&"---:|".repeat(header.len() - 1));
    out.push('\n');
    rows.into_iter().for_each(|row| out += &line(&row));
    out + "\n"
}

fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// Three digits that matter.
fn digits(x: f64) -> String {
    let decimals = (2 - x.abs().max(1e-9).log10().floor() as i32).max(0) as usize;
    format!("{x:.decimals$}")
}

/// What the workloads are.
#[must_use]
pub fn workloads() -> String {
    let rows = workload::all().into_iter().map(|Workload { name, title, shape, .. }| {
        let placement = if shape.norm_first { "Pre-LN" } else { "Post-LN" };
        let past = if shape.past > 0 { format!(" after {}", shape.past) } else { String::new() };
        let mut row = vec![name.into(), title.into()];
        row.extend([shape.layers, shape.d_model, shape.d_ff, shape.heads].map(|n| n.to_string()));
        row.extend([format!("{}{past}", shape.tokens), format!("{placement}, {:?}", shape.activation)]);
        row.extend([digits(shape.macs() as f64 * 1e-6), digits(shape.bytes() as f64 / 1e6)]);
        row
    });
    let header =
        ["", "", "layers", "width", "feed-forward", "heads", "tokens", "", "10⁶ multiply-adds", "MB of weights"];
    table(&strings(header), rows)
}

/// The core, and the times.
#[must_use]
pub fn report(report: &Report) -> String {
    let core = &report.core;
    let mut out = format!(
        "The core ({}), vectors of {}: {} GFLOP/s of multiply-adds; with {} pages {} GB/s of 40 MB, {} GB/s of 340 MB.\n\n",
        core.name,
        core.lanes,
        digits(core.gflops),
        report.pages,
        digits(core.bandwidth_40),
        digits(core.bandwidth_340),
    );
    let names = names(report);
    let mut header = strings([&format!("ms, {} pages", report.pages)]);
    header.extend(names.iter().map(|name| (*name).to_owned()));
    out += &table(&header, report.rows.iter().map(|row| times(row, &names)));
    let header =
        ["", "best peer", "its time by ours", "bound", "% of peak", "% of bandwidth", "roofline, ms", "% of roofline"];
    out + &table(&strings(header), report.rows.iter().map(|row| limits(row, report)))
}

fn times(row: &Row, names: &[&str]) -> Vec<String> {
    let of = |name: &&str| row.times.iter().find(|time| time.name == *name);
    let mut cells = vec![row.workload.clone()];
    cells.extend(names.iter().map(|name| of(name).map_or(String::new(), |time| digits(time.ms))));
    let fastest = row.times.iter().min_by(|a, b| a.ms.total_cmp(&b.ms)).map_or("", |time| &time.name);
    for (name, cell) in names.iter().zip(cells.iter_mut().skip(1)) {
        if *name == fastest {
            *cell = format!("**{cell}**");
        }
    }
    cells
}

fn limits(row: &Row, report: &Report) -> Vec<String> {
    let Workload { shape, bound, .. } = workload_of(row);
    let ms = row.times[0].ms;
    let compute = 2e-6 * shape.macs() as f64 / report.core.gflops;
    let memory = 1e-6 * shape.bytes() as f64 / row.bandwidth;
    let percent = |part: f64| format!("{:.0}", 100.0 * part / ms);
    let (name, ratio) = row.best().map_or(("", f64::NAN), |best| (&best.name, best.ratio));
    let mut cells = strings([&row.workload, name]);
    cells.extend([format!("{ratio:.2}"), bound.to_string(), percent(compute), percent(memory)]);
    cells.extend([digits(compute.max(memory)), percent(compute.max(memory))]);
    cells
}

/// By how much outputs differ from ours at most, in all reports.
#[must_use]
pub fn differences(reports: &[Report]) -> String {
    let Some(report) = reports.first() else { return String::new() };
    let names = names(report);
    let mut header = strings(["difference"]);
    header.extend(names.iter().skip(1).map(|name| (*name).to_owned()));
    let rows = report.rows.iter().map(|row| {
        let of = |name: &&str| row.times.iter().find(|time| time.name == *name);
        let mut cells = vec![row.workload.clone()];
        let differences = names.iter().skip(1).map(of);
        cells.extend(differences.map(|time| time.map_or(String::new(), |time| format!("{:.0e}", time.difference))));
        cells
    });
    table(&header, rows)
}

/// Memory and calls of the allocator.
#[must_use]
pub fn memory(workload: &str, peaks: &[(String, f64)], allocations: &BTreeMap<String, usize>) -> String {
    let rows = peaks.iter().map(|(name, peak)| {
        let allocations = allocations.get(name).map_or(String::new(), usize::to_string);
        vec![name.clone(), format!("{peak:.0}"), allocations]
    });
    let header = strings([workload, "peak resident set, MiB", "heap allocations of a forward pass"]);
    table(&header, rows)
}

/// How our time grows.
#[must_use]
pub fn growth(series: &[Series], gflops: f64) -> String {
    let mut out = String::new();
    for Series { what, fixed, points } in series {
        let _ = writeln!(out, "{fixed}:\n");
        let rows = points.iter().map(|(n, shape, ms)| {
            let rate = 2e-6 * shape.macs() as f64 / ms;
            vec![n.to_string(), digits(*ms), format!("{rate:.0}"), format!("{:.0}", 100.0 * rate / gflops)]
        });
        out += &table(&strings([what, "ms", "GFLOP/s", "% of peak"]), rows);
    }
    out
}
