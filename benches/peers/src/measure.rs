//! Times, in turns.

use cpu_time::ProcessTime;
use std::{hint::black_box, time::Duration};

/// How long a sample is at least.
const SAMPLE: Duration = Duration::from_millis(1);

/// Something that can be timed.
pub trait Contender {
    /// As it is called in tables.
    fn name(&self) -> &str;

    /// What it returns: `[tokens, d_model]`.
    fn output(&mut self) -> Vec<f32>;

    /// Milliseconds on the processor of a forward pass: the mean of so many after one that is not counted.
    fn sample(&mut self) -> f64;
}

/// A framework in this process.
pub struct Local<'a> {
    name: &'a str,
    peer: Box<dyn crate::peers::Peer>,
    repeats: u32,
}

impl<'a> Local<'a> {
    /// Runs it once.
    #[must_use]
    pub fn new(name: &'a str, peer: Box<dyn crate::peers::Peer>) -> Self {
        let mut local = Self { name, peer, repeats: 1 };
        local.sample(); // the first allocates
        local.repeats = repeats(local.sample());
        local
    }
}

impl Contender for Local<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn output(&mut self) -> Vec<f32> {
        self.peer.output()
    }

    fn sample(&mut self) -> f64 {
        self.peer.forward();
        let start = ProcessTime::now();
        for _ in 0..self.repeats {
            black_box(&mut self.peer).forward();
        }
        start.elapsed().as_secs_f64() * 1e3 / f64::from(self.repeats)
    }
}

/// How many forward passes of so many milliseconds make a sample.
#[must_use]
pub fn repeats(ms: f64) -> u32 {
    (SAMPLE.as_secs_f64() * 1e3 / ms).ceil() as u32
}

/// The median.
///
/// # Panics
///
/// Without values.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The largest difference of two outputs.
///
/// # Panics
///
/// If they are of different sizes.
#[must_use]
pub fn difference(x: &[f32], y: &[f32]) -> f32 {
    assert_eq!(x.len(), y.len(), "outputs of different sizes");
    x.iter()
        .zip(y)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, |max, difference| if difference <= max { max } else { difference })
}

/// Samples of all in turns, for as long as `budget` times their number: one row a round.
pub fn rounds(contenders: &mut [Box<dyn Contender + '_>], budget: Duration) -> Vec<Vec<f64>> {
    let budget = budget.as_secs_f64() * 1e3 * contenders.len() as f64;
    let mut spent = 0.0;
    let mut rounds = vec![];
    while rounds.len() < 5 || spent < budget {
        let start = std::time::Instant::now();
        rounds.push(contenders.iter_mut().map(|contender| contender.sample()).collect());
        spent += start.elapsed().as_secs_f64() * 1e3;
    }
    rounds
}
