//! Models that answer with a class.

use crate::{
    cost::{Macs, Model, Working},
    embedding::{Embedding, InputError},
    format::Format,
    layer::Layer,
    linear::Linear,
    observe::{Observer, Unobserved, Watch},
    parameters,
    parameters::Name,
    pooling::{FirstToken, Pooling},
    shape::{KnownWidth, Width},
    steps::{SteppedLayer, Steps},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = W pool(encoder(embedding(inputs))) + b
///
/// | symbol | shape | is |
/// |---|---|---|
/// | inputs | n x `E::Input` | token ids, patches, frames |
/// | embedding | | `E`, an [`Embedding`] into `D_MODEL` features |
/// | encoder | | `L`, a [`Layer`] of `D_MODEL` features: an [`Encoder`](crate::Encoder) |
/// | pool | | `P`, [`FirstToken`] (the default) or [`Mean`](crate::Mean) |
/// | W, b | `CLASSES` x `D_MODEL`, `CLASSES` | [`head`](Self::head) |
/// | y | `CLASSES` | logits: a score for each class, whose softmax are probabilities |
///
/// ```
/// use constformer::{Classifier, Encoder, Kwt, Memory, PatchEmbedding, Zero, boxed};
///
/// /// KWT-1 of the keyword transformer: 98 frames of 40 features in, 12 classes out.
/// type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;
///
/// static KWS: Kws = Kws::ZERO; // really `&Kws = include_model!(Kws, "kws.cfm")`
/// let mut memory = boxed::<Memory<Kws, 99>>();
/// let logits: [f32; 12] = KWS.forward(&[[0.5; 40]; 98], &mut memory)?;
/// # Ok::<(), constformer::InputError>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Classifier<E, L, const D_MODEL: usize, const CLASSES: usize, P = FirstToken, T = f32>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
    T: Format,
    Width<D_MODEL>: KnownWidth,
{
    /// Makes tokens of inputs.
    pub embedding: E,
    /// Makes tokens of tokens.
    pub encoder: L,
    /// W, b
    pub head: Linear<D_MODEL, CLASSES, T>,
    pooling: PhantomData<P>,
}

parameters! {
    [E: Embedding<D_MODEL>, L: Layer<D_MODEL>, const D_MODEL: usize, const CLASSES: usize, P: Pooling, T: Format]
    Classifier<E, L, D_MODEL, CLASSES, P, T> { embedding, encoder, head, pooling }
    where { Width<D_MODEL>: KnownWidth }
    structure: |fingerprint| fingerprint.name("classifier").name(P::NAME);
}

impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> Model for Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
    T: Format,
    Width<D_MODEL>: KnownWidth,
{
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>;

    const MACS: Macs = E::MACS.and(L::MACS).and(Macs::once((D_MODEL * CLASSES) as u64));
}

impl<E, L, const D_MODEL: usize, const CLASSES: usize, P, T> Classifier<E, L, D_MODEL, CLASSES, P, T>
where
    E: Embedding<D_MODEL>,
    L: Layer<D_MODEL>,
    P: Pooling,
    T: Format,
    Width<D_MODEL>: KnownWidth,
{
    /// The logits of `inputs`.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are none, more than the memory has room for, or one that is not known.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
    ) -> Result<[f32; CLASSES], InputError> {
        self.observe(inputs, memory, &mut Unobserved)
    }

    /// What the head is given: the vector of `inputs`, for a head of one's own, or to train one alone
    /// ([`HeadOnly`](crate::training::HeadOnly)).
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn features<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
    ) -> Result<[f32; D_MODEL], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        self.encoder.forward(stream, scratch);
        Ok(P::pool(stream)?)
    }

    /// As [`forward`](Self::forward), and `observer` sees `embedding`, what happens inside of `encoder`, and the logits, `head`.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        inputs: &[E::Input],
        memory: &mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
        observer: &mut O,
    ) -> Result<[f32; CLASSES], InputError> {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        Watch::new(&Name::ROOT.field("embedding"), observer).sequence(stream);
        self.encoder.observe(stream, scratch, &Name::ROOT.field("encoder"), observer);
        let logits = self.head.apply_to(&P::pool_in(stream)?);
        Watch::new(&Name::ROOT.field("head"), observer).row(0, &logits);
        Ok(logits)
    }

    /// As [`forward`](Self::forward), but the steps of the encoder are the caller's to take: see [`SteppedLayer`].
    ///
    /// ```
    /// # use constformer::{Classifier, Encoder, Kwt, Memory, PatchEmbedding, Zero, boxed};
    /// # type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 2, 64, 256, 1>, 64, 12>;
    /// # static KWS: Kws = Kws::ZERO;
    /// # let mut memory = boxed::<Memory<Kws, 99, 4>>();
    /// # let frames = [[0.5; 40]; 98];
    /// let mut steps = KWS.start(&frames, &mut memory)?;
    /// for _step in &mut steps {
    ///     // feed the watchdog
    /// }
    /// let logits = KWS.finish(steps)?;
    /// # assert_eq!(logits, KWS.forward(&frames, &mut memory)?);
    /// # Ok::<(), constformer::InputError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As `forward`.
    pub fn start<'a, const SEQ_LEN: usize, const TILE: usize>(
        &'a self,
        inputs: &[E::Input],
        memory: &'a mut Working<D_MODEL, SEQ_LEN, L::Scratch<SEQ_LEN, TILE>, L::Stream>,
    ) -> Result<Steps<'a, L, D_MODEL, SEQ_LEN, TILE>, InputError>
    where
        L: SteppedLayer<D_MODEL>,
    {
        let Working { stream, scratch } = memory;
        self.embedding.forward(inputs, stream)?;
        Ok(self.encoder.start(stream, scratch))
    }

    /// Takes the steps that are left; the logits.
    ///
    /// # Errors
    ///
    /// [`InputError`] if there are no tokens.
    pub fn finish<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        steps: Steps<'_, L, D_MODEL, SEQ_LEN, TILE>,
    ) -> Result<[f32; CLASSES], InputError>
    where
        L: SteppedLayer<D_MODEL>,
    {
        Ok(self.head.apply_to(&P::pool_in(steps.finish())?))
    }
}
