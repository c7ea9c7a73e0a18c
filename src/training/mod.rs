//! Training: gradients, losses, optimizers.

mod adapters;
mod block;
mod checkpoint;
mod cross;
mod error;
mod frozen;
mod head;
mod head_only;
mod initialization;
mod loss;
mod model;
mod objective;
mod optimizer;
mod residual;
mod schedule;
mod stack;
mod transformer;
#[cfg(feature = "std")]
mod workers;

pub use crate::{
    activation::TrainableActivation,
    attention::AttentionGradientScratch,
    dropout::{Dropout, WrongRate},
    embedding::TrainableEmbedding,
    feed_forward::TrainablePositionWise,
    format::TrainableFormat,
    models::TrainableHead,
    norm::TrainableNorm,
    pooling::TrainablePooling,
};
pub use adapters::{OtherModel, adapt, merge};
pub use block::{BlockGradientScratch, SavedBlock};
pub use checkpoint::Checkpoint;
pub use cross::{CrossGradientScratch, SavedCrossBlock};
pub use error::{TrainingError, WrongTargets};
pub use frozen::{Frozen, FrozenScratch, Unchanged};
pub use head::HeadGradientScratch;
pub use head_only::HeadOnly;
pub use initialization::Initialization;
pub use loss::{CrossEntropy, IGNORE, Loss, WrongSmoothing, mean_squared_error};
pub use model::{Gradient, Pass, TrainableModel, TrainingMemory, TrainingWorking};
pub use objective::Masking;
pub use optimizer::{AdamW, Moments, Sgd, accumulate, clear, clip_norm, move_average, norm};
pub use schedule::WarmUpCosine;
pub use stack::SavedStack;
pub use transformer::TransformerGradientWorking;
#[cfg(feature = "std")]
pub use workers::Workers;

use crate::{layer::Layer, parameters::Parameters, plain::Zero, sequence::Sequence};
use zerocopy::FromZeros;

/// A [`Layer`] that can be trained: [`EncoderBlock`](crate::EncoderBlock), [`DecoderBlock`](crate::DecoderBlock), arrays and stacks of
/// them.
///
/// There is no tape. On the way forward a layer saves the residual stream between its sub-layers; on the way back it computes what lies
/// between again. So the memory is a type, as that of inference is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer of width {D_MODEL} that can be trained",
    label = "its weights must be `f32`, and its norms and activations must have gradients"
)]
pub trait TrainableLayer<const D_MODEL: usize>: Layer<D_MODEL, Stream = f32> {
    /// The gradient: for weights of `f32`, a value of the same type.
    type Gradient: Parameters;
    /// What the way forward saves for the way back.
    type Saved<const SEQ_LEN: usize>: Zero + FromZeros;
    /// Working memory, `TILE` tokens at a time. What it holds before and after does not matter.
    type GradientScratch<const SEQ_LEN: usize, const TILE: usize>: Zero + FromZeros;

    /// As [`forward`](Layer::forward), with dropout, and saves what [`backward`](Self::backward) needs.
    fn forward_saved<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &mut Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        dropout: Dropout,
    );

    /// `dy`, the gradients of the layer's output, become those of its input; those of the parameters are added to `gradient`. `saved`
    /// is of the way forward, with the same dropout and as many tokens.
    fn backward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        dy: &mut Sequence<D_MODEL, SEQ_LEN>,
        saved: &Self::Saved<SEQ_LEN>,
        scratch: &mut Self::GradientScratch<SEQ_LEN, TILE>,
        dropout: Dropout,
        gradient: &mut Self::Gradient,
    );
}
