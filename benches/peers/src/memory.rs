//! What a framework needs besides time: memory, and calls of the allocator.

use crate::{
    peers::{self, python::Python},
    workload::Workload,
};
use std::path::Path;

/// The MiB that this process has at most in memory during a forward pass, when all is loaded; `None` if there is no such
/// framework. What was needed for loading does not count.
///
/// # Panics
///
/// If the interpreter of Python fails.
#[must_use]
pub fn peak(name: &str, workload: &Workload, python: Option<&Path>) -> Option<f64> {
    let past = peers::past(workload);
    if let Some(framework) = peers::all().into_iter().find(|framework| framework.name == name) {
        let mut peer = (framework.load)(workload, &past);
        drop(past);
        peer.forward();
        std::fs::write("/proc/self/clear_refs", "5").ok()?; // the peak is what is there now
        peer.forward();
        return high_water();
    }
    let mut python = Python::start(python?, Some(name)).expect("the interpreter of --python");
    python.load(workload, &past).contains_key(name).then(|| python.peak(name))
}

fn high_water() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0)
}
