//! How weights are stored.

mod int4;
mod int8;
mod int8_cache;
mod int8_stream;
mod integer_only;
mod lora;
mod panels;
mod trainable;

pub use int4::{Int4, Int4Rows};
pub use int8::{Int8, Int8Rows};
pub use int8_cache::Int8Cache;
pub use int8_stream::Int8Stream;
pub use integer_only::{IntegerOnly, IntegerWeights};
pub use lora::{Lora, LoraGradient, LoraGradientMatrix, LoraMatrix};
pub use panels::Panels;
pub(crate) use panels::position as panel_position;
pub use trainable::TrainableFormat;

use crate::{
    attention::LookedUpIn,
    kernel::Epilogue,
    number::Number,
    parameters::{Fingerprint, Parameters},
    shape::{KnownWidth, Width},
    token_format::{ComputedIn, TokenFormat},
};

/// A format of weights, the type parameter `T` of layers and models: it chooses how a matrix is stored and multiplied, and
/// nothing else changes.
///
/// `f32` is the default. (Formats are this library's: a matrix is handed to the kernel.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a format of weights",
    label = "a format is wanted here",
    note = "`f32` is one, and the default; `Int8` and `Int4` are others; `IntegerOnly<T>`, `Int8Cache<T>` and `Int8Stream<T>` go around one"
)]
pub trait Format: Copy + Send + Sync + 'static {
    /// What is computed between the matrices.
    type Number: Number;
    /// A matrix of `IN` inputs and `OUT` outputs.
    type Matrix<const IN: usize, const OUT: usize>: Matrix<IN, OUT, Self::Number>
    where
        Width<IN>: KnownWidth;
    /// How attention remembers keys and values.
    type KeyValues: LookedUpIn<Self::Number>;
    /// How the tokens between layers are stored.
    type Stream: TokenFormat + ComputedIn<Self::Number>;
}

/// Weights as they are, in panels.
impl Format for f32 {
    type Number = Self;
    type Matrix<const IN: usize, const OUT: usize>
        = Panels<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = Self;
    type Stream = Self;
}

/// A stored matrix.
pub trait Matrix<const IN: usize, const OUT: usize, N: Number = f32>: Parameters {
    #[doc(hidden)]
    fn multiply(&self, x: &[[N; IN]], then: impl Epilogue<N>);
}

/// What is the same of the matrices of all formats.
const fn structure(inputs: usize, outputs: usize) -> Fingerprint {
    Fingerprint::of("matrix").number(inputs).number(outputs)
}
