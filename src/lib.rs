#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(not(any(feature = "std", constformer_dsp, constformer_vldm)), forbid(unsafe_code))]

#[cfg(feature = "std")]
extern crate std;

mod activation;
mod attention;
mod bias;
mod block;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod blueprint;
#[cfg(feature = "std")]
mod boxed;
mod cache;
mod classifier;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod cost;
mod cross;
mod decoder;
mod dropout;
mod embedding;
mod encoder;
mod family;
mod feed_forward;
mod format;
mod hyperparameters;
pub mod image;
mod integer;
mod integer4;
mod kernel;
#[cfg(feature = "proptest")]
pub mod laws;
mod layer;
mod linear;
#[cfg(feature = "safetensors")]
pub mod load;
pub mod machine;
mod mask;
pub mod math;
mod message;
mod models;
mod norm;
pub mod number;
mod observe;
#[cfg(feature = "rayon")]
mod parallel;
pub mod parameters;
mod plain;
mod pooling;
mod position;
mod quantize;
mod residual;
mod rotation;
pub mod sampling;
mod self_test;
mod sequence;
#[cfg(feature = "serde")]
mod serde;
mod shape;
mod similarity;
mod steps;
mod sub_layers;
mod tile;
mod token_format;
pub mod tokenizer;
pub mod training;

pub use activation::{Activation, Gelu, GeluTanh, Identity, Relu, Silu};
pub use attention::{
    AttentionScratch, AttentionTile, GroupedQueryAttention, KeyValueFormat, LookedUpIn, MultiHeadAttention,
};
pub use bias::{Bias, NoBias, Nothing, WithBias};
pub use block::EncoderBlock;
#[cfg(feature = "std")]
pub use boxed::{Boxed, boxed};
pub use cache::{Cache, CachedLayer, Past};
pub use classifier::Classifier;
pub use cost::{Macs, Memory, Model, Plan, Working};
pub use cross::{CrossBlock, CrossDecoder, CrossScratch, Source};
pub use decoder::{Decoder, DecoderBlock};
pub use embedding::{
    Embedding, Incremental, InputError, PatchEmbedding, TextEmbedding, TokenEmbedding, UnknownToken, patches,
};
pub use encoder::Encoder;
pub use family::{Bert, Custom, Family, FinalNorm, Gpt2, Kwt, Llama, Masked, NoFinalNorm, Vaswani, Vit, WithFinalNorm};
pub use feed_forward::{FeedForward, FeedForwardScratch, GatedFeedForward, PositionWise};
pub use format::{
    Format, Int4, Int4Rows, Int8, Int8Cache, Int8Rows, Int8Stream, IntegerOnly, IntegerWeights, Lora, LoraGradient,
    LoraGradientMatrix, LoraMatrix, Matrix, Panels,
};
pub use hyperparameters::{Described, Hyperparameters};
pub use layer::Layer;
pub use linear::Linear;
pub use mask::{Bidirectional, Causal, Mask};
pub use models::{
    BertEmbedding, CachedMemory, CachedModel, CachedWorking, Head, LanguageModel, MaskedHead, MaskedLanguageModel,
    SinusoidalEmbedding, TextEncoder, Tied, TokenTable, Transformer, TransformerMemory,
};
pub use norm::{Exponent, LayerNorm, NoNorm, Norm, RmsNorm};
pub use observe::{Observer, Unobserved};
#[cfg(feature = "rayon")]
pub use parallel::{ParallelLayer, ParallelScratch, forward_batch_parallel};
pub use parameters::{Fingerprint, Name, Parameters, Shape, Table, Tensor};
pub use plain::{Plain, Zero};
pub use pooling::{FirstToken, Mean, Pooling};
pub use position::{LearnedPositions, NoPosition, SinusoidalPositions};
#[cfg(feature = "std")]
pub use quantize::quantize;
pub use quantize::quantize_to;
pub use residual::{Placement, PostLn, PreLn};
pub use rotation::{HalfSplit, Interleaved, NoRotation, Pairing, Rotation};
pub use self_test::{SelfTest, SelfTestFailed};
pub use sequence::{Empty, Sequence, Tokens, TokensMut, TooLong};
pub use shape::{KnownWidth, NoRemainder, SameProduct, SharedBy, SharesHeads, SplitInto, Width};
pub use similarity::{cosine, normalize};
pub use steps::{SteppedLayer, Steps};
pub use sub_layers::{Scratch, TileScratch};
pub use tile::TILE;
pub use token_format::{ComputedIn, TokenFormat};

pub use nalgebra;
pub use typenum;
#[doc(hidden)]
pub use zerocopy;

/// The code in the documents is tested too.
#[cfg(doctest)]
#[doc = include_str!("../docs/layers.md")]
mod layers {}

#[cfg(doctest)]
#[doc = include_str!("../docs/embedded.md")]
mod embedded {}

#[cfg(doctest)]
#[doc = include_str!("../docs/extending.md")]
mod extending {}

#[cfg(doctest)]
#[doc = include_str!("../docs/training.md")]
mod training_guide {}

#[cfg(all(doctest, feature = "proptest"))]
#[doc = include_str!("../docs/property-testing.md")]
mod property_testing {}

#[cfg(doctest)]
#[doc = include_str!("../docs/choosing.md")]
mod choosing {}
