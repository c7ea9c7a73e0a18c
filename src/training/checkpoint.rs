//! All that a training goes on from.

use crate::{parameters, parameters::Parameters};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A model and what its optimizer remembers, [`Moments`](super::Moments) or the velocity of [`Sgd`](super::Sgd): written to a file and read
/// again, training goes on to the same bits.
///
/// It is parameters like a model is, so [`image::write`](crate::image::write) writes it, whole or not at all, and
/// [`image::read`](crate::image::read) reads it, if it is undamaged and of the same type. The step is
/// [`Moments::steps`](super::Moments::steps); where the order of the data and the masks of dropout are functions of it and of a seed, nothing
/// else is to be remembered.
///
/// ```
/// use constformer::{Linear, boxed, image, training::{AdamW, Checkpoint, Moments}};
///
/// type Model = Linear<3, 2>;
///
/// let path = std::env::temp_dir().join("constformer-checkpoint.cfm");
/// let mut state = boxed::<Checkpoint<Model, Moments<Model>>>();
/// let mut gradient = boxed::<Model>();
/// gradient.bias = [1.0, 2.0];
/// let Checkpoint { model, optimizer } = &mut *state;
/// AdamW::default().step(model, &*gradient, optimizer, 1e-3);
/// image::write(&path, &*state)?;
///
/// let state = image::read::<Checkpoint<Model, Moments<Model>>>(&path)?;
/// assert_eq!(state.optimizer.steps(), 1);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Checkpoint<M: Parameters, O: Parameters> {
    /// The model.
    pub model: M,
    /// What the optimizer remembers.
    pub optimizer: O,
}

parameters! {
    [M: Parameters, O: Parameters] Checkpoint<M, O> { model, optimizer }
    structure: |fingerprint| fingerprint.name("checkpoint");
}
