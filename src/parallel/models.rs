//! Whole models on several threads, for one text or image that is waited for.

use super::ParallelLayer;
use crate::{
    classifier::Classifier,
    cost::Working,
    embedding::{Embedding, InputError},
    format::Format,
    models::TextEncoder,
    pooling::Pooling,
    shape::{KnownWidth, Width},
};

impl<E, L, const D_MODEL: usize, P> TextEncoder<E, L, D_MODEL, P>
where
    E: Embedding<D_MODEL>,
    L: ParallelLayer<D_MODEL>,
    P: Pooling,
{
    /// As [`forward`](Self::forward), on the threads of the rayon pool that it is called in: see [`ParallelLayer`].
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::ParallelScratch<SEQ_LEN, THREADS, TILE>, L::Stream>,
    ) -> Result<[f32; D_MODEL], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward_parallel(stream, scratch);
        Ok(P::pool(stream)?)
    }
}

impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: Embedding<D_MODEL>,
    L: ParallelLayer<D_MODEL>,
    P: Pooling,
    T: Format,
    Width<D_MODEL>: KnownWidth,
{
    /// As [`forward`](Self::forward), on the threads of the rayon pool that it is called in: see [`ParallelLayer`].
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn forward_parallel<const SEQ_LEN: usize, const THREADS: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::ParallelScratch<SEQ_LEN, THREADS, TILE>, L::Stream>,
    ) -> Result<[f32; CLASSES], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward_parallel(stream, scratch);
        Ok(self.head.apply(&P::pool(stream)?))
    }
}
