//! How our time grows with the length of the sequence, with layers and with width.

use crate::{
    measure::{Contender, Local, median, rounds},
    shape::{Activation, Shape},
    workload::{Workload, encoder},
};
use constformer::Bert;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A series of shapes, and our times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What grows.
    pub what: String,
    /// What does not.
    pub fixed: String,
    /// How far, the shape, and milliseconds.
    pub points: Vec<(usize, Shape, f64)>,
}

/// Measures all series.
#[must_use]
pub fn measure(budget: Duration) -> Vec<Series> {
    macro_rules! series {
        ($what:literal, $fixed:literal, |$n:ident| $tokens:expr, $layers:expr, $d_model:expr, $heads:expr; $($values:literal)*) => {
            Series {
                what: $what.into(),
                fixed: $fixed.into(),
                points: vec![$({
                    const $n: usize = $values;
                    let encoder = encoder::<Bert, { $layers }, { $d_model }, { 4 * $d_model }, { $heads }, { $tokens }>;
                    let workload = encoder("growth", "", Activation::Gelu, 1e-12, 0.0);
                    ($n, workload.shape, time(&workload, budget))
                }),*],
            }
        };
    }
    vec![
        series!("tokens", "1 layer, width 384", |N| N, 1, 384, 12; 16 64 128 256 512 1024 2048),
        series!("layers", "width 384, 128 tokens", |N| 128, N, 384, 12; 1 2 4 8 12),
        series!("width", "1 layer, heads of 64, 128 tokens", |N| 128, 1, N, N / 64; 64 128 256 512 1024),
    ]
}

fn time(workload: &Workload, budget: Duration) -> f64 {
    let peer: Box<dyn Contender> = Box::new(Local::new("constformer", (workload.ours)(&workload.shape)));
    median(rounds(&mut [peer], budget).into_iter().flatten())
}
