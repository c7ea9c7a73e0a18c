//! From a second of samples to a label.

use crate::{
    mfcc::{FEATURES, FRAMES, Mfcc, SAMPLES, Scratch},
    model::{Kws, Kwt1, LABELS, TOKENS},
};
use constformer::{
    Boxed, InputError, Memory, boxed,
    load::{Checkpoint, LoadError},
    math::softmax,
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// The front end, the model and all the memory that they need.
pub(crate) struct Spotter {
    mfcc: Mfcc,
    kws: Boxed<Kws>,
    scratch: Scratch,
    frames: [[f32; FEATURES]; FRAMES],
    memory: Boxed<Memory<Kws, TOKENS>>,
}

/// What was heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) label: &'static str,
    pub(crate) probability: f32,
    /// The time that the front end took.
    pub(crate) front_end: Duration,
    /// The time that the model took.
    pub(crate) model: Duration,
}

impl Spotter {
    /// With the weights in a checkpoint, `kwt1.safetensors`.
    pub(crate) fn open(weights: &Path) -> Result<Self, LoadError> {
        let mut kws = boxed::<Kws>();
        Checkpoint::open(weights)?.load::<Kwt1>(&mut *kws)?;
        let (frames, memory) = ([[0.0; FEATURES]; FRAMES], boxed());
        Ok(Self { mfcc: Mfcc::new(), kws, scratch: Scratch::ZERO, frames, memory })
    }

    /// The most probable label of a second.
    pub(crate) fn hear(&mut self, second: &[f32; SAMPLES]) -> Result<Heard, InputError> {
        let start = Instant::now();
        self.mfcc.frames(second, &mut self.frames, &mut self.scratch);
        let (front_end, start) = (start.elapsed(), Instant::now());
        let mut probabilities = self.kws.forward(&self.frames, &mut self.memory)?;
        let model = start.elapsed();
        softmax(&mut probabilities);
        let best = LABELS.iter().zip(probabilities).max_by(|(_, a), (_, b)| a.total_cmp(b));
        let (label, probability) = best.map_or((LABELS[0], f32::NAN), |(label, probability)| (*label, probability));
        Ok(Heard { label, probability, front_end, model })
    }
}
