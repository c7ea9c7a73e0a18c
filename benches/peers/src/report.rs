//! What was measured, and how: all frameworks of a workload in turns.

use crate::{
    environment::Pages,
    machine::{self, Core},
    measure::{Contender, Local, difference, median, rounds},
    peers::{
        self,
        python::{Python, Remote},
    },
    workload::Workload,
};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, path::PathBuf, rc::Rc, time::Duration};

/// Outputs of different frameworks differ by less.
const TOLERANCE: f32 = 1e-3;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The size of pages.
    pub pages: Pages,
    /// Names of frameworks; none: all that there are. Ours is always there.
    pub only: Vec<String>,
    /// The interpreter that has ONNX Runtime and PyTorch.
    pub python: Option<PathBuf>,
    /// How long each framework is measured at each workload.
    pub budget: Duration,
}

/// All workloads with pages of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The size of pages.
    pub pages: Pages,
    /// The core.
    pub core: Core,
    /// Workload by workload.
    pub rows: Vec<Row>,
}

/// A workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub workload: String,
    /// The rate at which the core reads as many bytes as the workload's weights have, in 10⁹ bytes a second.
    pub bandwidth: f64,
    /// The frameworks, ours first.
    pub times: Vec<Time>,
}

/// A framework's time for a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Time {
    /// The framework.
    pub name: String,
    /// Milliseconds on the processor, the median.
    pub ms: f64,
    /// Its time by ours: the median of the rounds', or, of several processes, of the least times.
    pub ratio: f64,
    /// By how much its output differs from ours at most.
    pub difference: f32,
}

impl Row {
    /// The fastest of the others.
    #[must_use]
    pub fn best(&self) -> Option<&Time> {
        self.times.iter().skip(1).min_by(|x, y| x.ratio.total_cmp(&y.ratio))
    }
}

impl Report {
    /// Measures the workloads, in this process.
    ///
    /// # Panics
    ///
    /// If a framework fails, or returns something else than ours.
    #[must_use]
    pub fn measure(plan: &Plan, workloads: &[Workload]) -> Self {
        let core = Core::measure();
        let wants = |name: &str| plan.only.is_empty() || plan.only.iter().any(|wanted| wanted == name);
        let python = plan.python.as_ref().map(|interpreter| {
            Rc::new(RefCell::new(Python::start(interpreter, None).expect("the interpreter of --python")))
        });
        let frameworks: Vec<_> =
            peers::all().into_iter().enumerate().filter(|(i, peer)| *i == 0 || wants(peer.name)).collect();
        let row = |workload: &Workload| {
            eprintln!("{} with {} pages", workload.name, plan.pages);
            let past = peers::past(workload);
            let local = frameworks.iter().map(|(_, peer)| -> Box<dyn Contender> {
                Box::new(Local::new(peer.name, (peer.load)(workload, &past)))
            });
            let mut contenders: Vec<_> = local.collect();
            if let Some(python) = &python {
                let outputs = python.borrow_mut().load(workload, &past);
                let outputs = outputs.into_iter().filter(|(name, _)| wants(name));
                contenders.extend(
                    outputs.map(|(name, output)| -> Box<dyn Contender> { Box::new(Remote::new(name, python, output)) }),
                );
            }
            Row {
                workload: workload.name.into(),
                bandwidth: machine::bandwidth(workload.shape.bytes()),
                times: times(workload, &mut contenders, plan.budget),
            }
        };
        let rows = workloads.iter().map(row).collect();
        Self { pages: plan.pages, core, rows }
    }
}

impl Report {
    /// Of reports on the same, each from a process of its own, the least time of each framework.
    ///
    /// Where a process's memory lies is luck, and may cost all of its frameworks a third of their time.
    ///
    /// # Panics
    ///
    /// Without reports.
    #[must_use]
    pub fn fastest(reports: Vec<Self>) -> Self {
        reports.into_iter().reduce(Self::faster).expect("a report")
    }

    fn faster(mut self, other: Self) -> Self {
        let most = |x: &mut f64, y: f64| *x = x.max(y);
        most(&mut self.core.gflops, other.core.gflops);
        most(&mut self.core.bandwidth_40, other.core.bandwidth_40);
        most(&mut self.core.bandwidth_340, other.core.bandwidth_340);
        for (row, other) in self.rows.iter_mut().zip(other.rows) {
            most(&mut row.bandwidth, other.bandwidth);
            for (time, other) in row.times.iter_mut().zip(other.times) {
                time.ms = time.ms.min(other.ms);
                time.difference = time.difference.max(other.difference);
            }
            let ours = row.times[0].ms;
            row.times.iter_mut().for_each(|time| time.ratio = time.ms / ours);
        }
        self
    }
}

fn times(workload: &Workload, contenders: &mut [Box<dyn Contender + '_>], budget: Duration) -> Vec<Time> {
    let ours = contenders[0].output();
    let differences: Vec<f32> = contenders.iter_mut().map(|peer| difference(&ours, &peer.output())).collect();
    for (peer, difference) in contenders.iter().zip(&differences) {
        let (workload, peer) = (workload.name, peer.name());
        assert!(*difference < TOLERANCE, "{workload}: the output of {peer} differs from ours by {difference}");
    }
    let rounds = rounds(contenders, budget);
    let time = |(i, difference): (usize, f32)| Time {
        name: contenders[i].name().into(),
        ms: median(rounds.iter().map(|round| round[i])),
        ratio: median(rounds.iter().map(|round| round[i] / round[0])),
        difference,
    };
    differences.into_iter().enumerate().map(time).collect()
}
