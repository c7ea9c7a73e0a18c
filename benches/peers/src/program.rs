//! The program: it starts itself again in the circumstances to be measured, and gathers what it says there.

use crate::{
    document,
    environment::{self, Pages},
    growth, memory,
    report::{Plan, Report},
    table,
    workload::{self, Workload},
};
use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

/// The workload at which memory is measured.
const MEMORY: &str = "W3-128";

/// constformer against other frameworks: tables in Markdown. One core, one thread, f32, one sequence at a time.
#[derive(Parser)]
#[command(after_help = "Start it with `taskset -c 1`, so that it stays on one core.")]
struct Arguments {
    /// Beginnings of the names of workloads; none: all.
    workloads: Vec<String>,
    /// Only these frameworks, and constformer.
    #[arg(long, global = true, value_delimiter = ',')]
    only: Vec<String>,
    /// The size of pages, for all frameworks.
    #[arg(long, global = true, value_enum, value_delimiter = ',', default_value = "small,huge")]
    pages: Vec<Pages>,
    /// An interpreter that has onnxruntime and torch: they take part.
    #[arg(long, global = true)]
    python: Option<PathBuf>,
    /// How many seconds each framework is measured at each workload.
    #[arg(long, global = true, default_value_t = 1.0)]
    seconds: f64,
    /// In how many processes all is measured; of each framework the fastest counts.
    #[arg(long, default_value_t = 3)]
    processes: usize,
    /// Fails if the best peer's time by ours is below the bound of a workload.
    #[arg(long)]
    bound: bool,
    /// Only times: neither memory nor growth.
    #[arg(long)]
    times: bool,
    /// Writes the tables into `performance.md` of this folder, and the pictures beside it.
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// What a child does; it answers in JSON.
#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
enum Part {
    /// Times.
    #[command(hide = true)]
    Measure { workloads: Vec<String> },
    /// The memory of one framework.
    #[command(hide = true)]
    Peak { name: String, workload: String },
    /// Our growth.
    #[command(hide = true)]
    Growth,
}

/// Runs it.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(part) = &arguments.part {
        answer(&arguments, part);
        return ExitCode::SUCCESS;
    }
    environment::warn_unless_pinned();
    let measure = |pages: &Pages| arguments.ask(*pages, "measure", &arguments.workloads);
    // In turns, too.
    let runs: Vec<Vec<Report>> =
        (0..arguments.processes.max(1)).map(|_| arguments.pages.iter().map(measure).collect()).collect();
    let reports: Vec<Report> = (0..arguments.pages.len())
        .map(|pages| Report::fastest(runs.iter().map(|run| run[pages].clone()).collect()))
        .collect();
    let mut text = table::workloads();
    for report in &reports {
        text += &table::report(report);
    }
    text += &table::differences(&reports);
    let mut series = vec![];
    if !arguments.times {
        text += &arguments.memory(&reports);
        series = arguments.ask(Pages::Small, "growth", &[]);
        text += &table::growth(&series, reports[0].core.gflops);
    }
    print!("{text}");
    if let Some(folder) = &arguments.write
        && let Err(error) = document::write(folder, &text, &reports, &series)
    {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    if arguments.bound && below(&reports) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether a ratio is below its bound; then it says which.
fn below(reports: &[Report]) -> bool {
    let mut below = false;
    for (report, row) in reports.iter().flat_map(|report| report.rows.iter().map(move |row| (report, row))) {
        let workload = workload::all().into_iter().find(|workload| workload.name == row.workload);
        if let (Some(best), Some(Workload { bound, .. })) = (row.best(), workload)
            && best.ratio < bound
        {
            below = true;
            eprintln!(
                "{}, {} pages: {} takes {:.2} times as long, which is below {bound}",
                row.workload, report.pages, best.name, best.ratio
            );
        }
    }
    below
}

/// In a child.
fn answer(arguments: &Arguments, part: &Part) {
    let pages = arguments.pages[0];
    environment::settle(pages);
    let budget = Duration::from_secs_f64(arguments.seconds);
    let json = match part {
        Part::Measure { workloads } => {
            let wants = |name: &str| workloads.is_empty() || workloads.iter().any(|wanted| name.starts_with(wanted));
            let workloads: Vec<_> = workload::all().into_iter().filter(|workload| wants(workload.name)).collect();
            let (only, python) = (arguments.only.clone(), arguments.python.clone());
            serde_json::to_string(&Report::measure(&Plan { pages, only, python, budget }, &workloads))
        }
        Part::Peak { name, workload } => {
            let workload = workload::all().into_iter().find(|known| known.name == workload);
            let workload = workload.expect("the name of a workload");
            serde_json::to_string(&memory::peak(name, &workload, arguments.python.as_deref()))
        }
        Part::Growth => serde_json::to_string(&growth::measure(budget / 4)),
    };
    println!("{}", json.expect("JSON"));
}

impl Arguments {
    /// What a child answers.
    fn ask<T: DeserializeOwned>(&self, pages: Pages, part: &str, rest: &[String]) -> T {
        let mut command = environment::again(pages);
        command.args([part, "--pages", &pages.to_string(), "--seconds", &self.seconds.to_string()]);
        if !self.only.is_empty() {
            command.args(["--only", &self.only.join(",")]);
        }
        if let Some(python) = &self.python {
            command.arg("--python").arg(python);
        }
        json(command.args(rest))
    }

    /// The table of memory, for all frameworks of the first report.
    fn memory(&self, reports: &[Report]) -> String {
        let names = table::names(&reports[0]).into_iter().map(str::to_owned);
        let peaks = names.filter_map(|name| {
            let peak: Option<f64> = self.ask(Pages::Small, "peak", &[name.clone(), MEMORY.into()]);
            peak.map(|peak| (name, peak))
        });
        table::memory(MEMORY, &peaks.collect::<Vec<_>>(), &allocations())
    }
}

/// Runs the program that counts allocations, which cargo builds if need be.
fn allocations() -> BTreeMap<String, usize> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "--manifest-path", manifest, "--bin", "allocations"]);
    cargo.args(["--no-default-features", "--features", &features().join(",")]);
    let counts: Vec<(String, usize)> = json(cargo.args(["--", MEMORY]));
    counts.into_iter().collect()
}

/// The frameworks that were compiled in.
fn features() -> Vec<&'static str> {
    let mut features = vec![];
    for (compiled, name) in [
        (cfg!(feature = "rten"), "rten"),
        (cfg!(feature = "candle"), "candle"),
        (cfg!(feature = "burn"), "burn"),
        (cfg!(feature = "tract"), "tract"),
    ] {
        if compiled {
            features.push(name);
        }
    }
    features
}

fn json<T: DeserializeOwned>(command: &mut Command) -> T {
    let output = command.stderr(Stdio::inherit()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
