//! Layers that stay as they are.

use super::{Dropout, TrainableLayer};
use crate::{
    cost::{Macs, Model},
    layer::Layer,
    observe::Observer,
    parameters,
    parameters::{Fingerprint, Name, Parameters, Tensor, Visit, VisitMut},
    plain::Zero,
    sequence::Sequence,
};
use core::{fmt, marker::PhantomData};
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

/// The layer `L`, whose parameters training leaves as they are, while gradients pass through to what is below
///
/// It has no gradient and no moments: in a gradient it is [`Unchanged`], of no size. Dropout is not for it either. A model with it has the
/// images and the tensors of one without. On the way back, the gradient of `L` is computed and thrown away; of weights in the format
/// `Lora<0>` there is next to none.
///
/// PyTorch: `layer.requires_grad_(False)`.
///
/// ```
/// use constformer::{training::*, *};
///
/// /// Only embedding and head are trained.
/// type Vision = Classifier<PatchEmbedding<4, 32, 17>, Frozen<Encoder<Vit, 2, 32, 96, 4>>, 32, 10>;
///
/// let gradient = boxed::<Gradient<Vision>>();
/// assert!(size_of_val(&*gradient) * 20 < size_of::<Vision>());
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Frozen<L> {
    /// The layer.
    pub layer: L,
}

impl<L: Zero> Zero for Frozen<L> {
    const ZERO: Self = Self { layer: L::ZERO };
}

impl<L: Parameters> fmt::Debug for Frozen<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parameters::debug::<Self>(f)
    }
}

impl<L: Parameters> Parameters for Frozen<L> {
    const COUNT: usize = L::COUNT;
    const FINGERPRINT: Fingerprint = L::FINGERPRINT;
    const STRUCTURE: Fingerprint = L::STRUCTURE;

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        self.layer.walk(name, &mut |name, tensor| visit(name, Tensor { frozen: true, ..tensor }));
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        self.layer.walk_mut(name, &mut |name, tensor| visit(name, Tensor { frozen: true, ..tensor }));
    }
}

impl<L: Model> Model for Frozen<L> {
    type Memory<const SEQ_LEN: usize, const TILE: usize> = L::Memory<SEQ_LEN, TILE>;

    const MACS: Macs = L::MACS;
}

impl<L: Layer<D_MODEL>, const D_MODEL: usize> Layer<D_MODEL> for Frozen<L> {
    type Stream = L::Stream;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> = L::Scratch<SEQ_LEN, TILE>;

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, L::Stream>,
        scratch: &mut L::Scratch<SEQ_LEN, TILE>,
    ) {
        self.layer.forward(x, scratch);
    }

    fn observe<const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, L::Stream>,
        scratch: &mut L::Scratch<SEQ_LEN, TILE>,
        name: &Name<'_>,
        observer: &mut O,
    ) {
        self.layer.observe(x, scratch, name, observer);
    }

    fn forward_batch<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        batch: &mut [Sequence<D_MODEL, SEQ_LEN, L::Stream>],
        scratch: &mut L::Scratch<SEQ_LEN, TILE>,
    ) {
        self.layer.forward_batch(batch, scratch);
    }
}

/// Working memory of a layer, `W`, and room for its gradient, `G`, which nobody wants.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct FrozenScratch<W, G> {
    work: W,
    gradient: G,
}

impl<W: Zero, G: Zero> Zero for FrozenScratch<W, G> {
    const ZERO: Self = Self { work: Zero::ZERO, gradient: Zero::ZERO };
}

impl<L: TrainableLayer<D_MODEL>, const D_MODEL: usize> TrainableLayer<D_MODEL> for Frozen<L> {
    type Gradient = Unchanged<L>;
    type Saved<const SEQ_LEN: usize> = L::Saved<SEQ_LEN>;
    type GradientScratch<const SEQ_LEN: usize, const TILE: usize> =
        FrozenScratch<L::GradientScratch<SEQ_LEN, TILE>, L::Gradient>;

    fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &mut Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        _: Dropout,
    ) {
        self.layer.forward_saved(x, saved, &mut scratch.work, Dropout::NONE);
    }

    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        dy: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        _: Dropout,
        _: &mut Unchanged<L>,
    ) {
        self.layer.backward(dy, saved, &mut scratch.work, Dropout::NONE, &mut scratch.gradient);
    }
}

/// The gradient of a [`Frozen`] layer `L`: nothing. As a layer, y = x.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Unchanged<L>(PhantomData<L>);

impl<L> Zero for Unchanged<L> {
    const ZERO: Self = Self(PhantomData);
}

impl<L: Parameters> fmt::Debug for Unchanged<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parameters::debug::<Self>(f)
    }
}

impl<L: Parameters> Parameters for Unchanged<L> {
    const COUNT: usize = 0;
    const FINGERPRINT: Fingerprint = Fingerprint::of("unchanged").part(L::FINGERPRINT);
    const STRUCTURE: Fingerprint = L::STRUCTURE; // it is the gradient of such a layer

    fn walk<'a>(&'a self, _: &Name<'_>, _: Visit<'_, 'a>) {}

    fn walk_mut<'a>(&'a mut self, _: &Name<'_>, _: VisitMut<'_, 'a>) {}
}

impl<L: Parameters> Model for Unchanged<L> {
    type Memory<const SEQ_LEN: usize, const TILE: usize> = [f32; 0];

    const MACS: Macs = Macs::once(0);
}

impl<L: Parameters, const D_MODEL: usize> Layer<D_MODEL> for Unchanged<L> {
    type Stream = f32;
    type Scratch<const SEQ_LEN: usize, const TILE: usize> = [f32; 0];

    fn forward<const SEQ_LEN: usize, const TILE: usize>(&self, _: &mut Sequence<D_MODEL, SEQ_LEN>, _: &mut [f32; 0]) {}
}
