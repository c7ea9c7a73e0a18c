//! Batches on several threads.

use super::{Loss, Pass, TrainableModel, TrainingError, accumulate, clear};
use crate::boxed::{Boxed, boxed};
use std::{panic::resume_unwind, thread, vec::Vec};

/// Threads that share the sequences of a batch, each with a gradient and a memory of its own
///
/// The parts of a batch are added up in their order, so the same number of threads gives the same bits.
///
/// ```
/// use constformer::{training::*, *};
///
/// type Gpt = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4>, 16, 11>;
///
/// let mut model = boxed::<Gpt>();
/// let mut moments = boxed::<Moments<Gradient<Gpt>>>();
/// let mut workers = Workers::<Gpt, 8>::new(2);
///
/// let batch = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]];
/// let loss = workers.backward(&model, &batch, |_, text| (&text[..4], &text[1..], Pass::new(1.0 / 8.0)))?;
/// clip_norm(workers.gradient(), 1.0);
/// AdamW::default().step(&mut *model, workers.gradient(), &mut *moments, 1e-3);
/// assert_eq!(loss.count, 8);
/// # Ok::<(), TrainingError>(())
/// ```
#[derive(Debug)]
pub struct Workers<M: TrainableModel, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }> {
    first: Worker<M, SEQ_LEN, TILE>,
    others: Vec<Worker<M, SEQ_LEN, TILE>>,
}

struct Worker<M: TrainableModel, const SEQ_LEN: usize, const TILE: usize> {
    gradient: Boxed<M::Gradient>,
    memory: Boxed<M::TrainingMemory<SEQ_LEN, TILE>>,
}

impl<M: TrainableModel, const SEQ_LEN: usize, const TILE: usize> core::fmt::Debug for Worker<M, SEQ_LEN, TILE> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Worker")
    }
}

impl<M: TrainableModel, const SEQ_LEN: usize, const TILE: usize> Worker<M, SEQ_LEN, TILE> {
    fn new() -> Self {
        Self { gradient: boxed(), memory: boxed() }
    }

    fn backward<'t, T: 't>(
        &mut self,
        model: &M,
        batch: impl Iterator<Item = (usize, &'t T)>,
        example: impl Fn(usize, &'t T) -> (M::Inputs<'t>, M::Target<'t>, Pass),
    ) -> Result<Loss, TrainingError> {
        clear(&mut *self.gradient);
        let mut loss = Loss::default();
        for (i, item) in batch {
            let (inputs, target, pass) = example(i, item);
            loss += model.backward(inputs, target, pass, &mut self.gradient, &mut self.memory)?;
        }
        Ok(loss)
    }
}

impl<M, const SEQ_LEN: usize, const TILE: usize> Workers<M, SEQ_LEN, TILE>
where
    M: TrainableModel<Gradient: Send, TrainingMemory<SEQ_LEN, TILE>: Send>,
{
    /// So many threads, at least one.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { first: Worker::new(), others: (1..threads).map(|_| Worker::new()).collect() }
    }

    /// The loss of a batch, whose [`gradient`](Self::gradient) replaces the one before. `example` says of an item, and of its number in the
    /// batch, what the model is given and what is wanted.
    ///
    /// # Errors
    ///
    /// The first [`TrainingError`]; then the gradient is of no use.
    pub fn backward<'t, T: Sync>(
        &mut self,
        model: &M,
        batch: &'t [T],
        example: impl Fn(usize, &'t T) -> (M::Inputs<'t>, M::Target<'t>, Pass) + Sync,
    ) -> Result<Loss, TrainingError> {
        let Self { first, others } = self;
        let (share, example) = (batch.len().div_ceil(others.len() + 1).max(1), &example);
        let part = |i: usize| (i * share..).zip(batch.chunks(share).nth(i).unwrap_or_default());
        let loss = thread::scope(|scope| {
            let threads: Vec<_> = others
                .iter_mut()
                .enumerate()
                .map(|(i, worker)| scope.spawn(move || worker.backward(model, part(i + 1), example)))
                .collect();
            let mut loss = first.backward(model, part(0), example);
            for thread in threads {
                let other = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                loss = loss.and_then(|mut loss| {
                    loss += other?;
                    Ok(loss)
                });
            }
            loss
        })?;
        others.iter().for_each(|other| accumulate(&mut *first.gradient, &*other.gradient));
        Ok(loss)
    }

    /// The gradient of the last batch.
    pub fn gradient(&mut self) -> &mut M::Gradient {
        &mut self.first.gradient
    }

    /// The memory of one of the threads, to validate with.
    pub fn memory(&mut self) -> &mut M::TrainingMemory<SEQ_LEN, TILE> {
        &mut self.first.memory
    }
}
