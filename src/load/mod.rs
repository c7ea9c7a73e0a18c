//! Weights of PyTorch and Hugging Face, from safetensors files and to them.
//!
//! ```no_run
//! use constformer::{Bert, BertEmbedding, Encoder, TextEncoder, boxed, load::{Checkpoint, HuggingFaceBert}};
//!
//! type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
//!
//! let mut model = boxed::<MiniLm>();
//! Checkpoint::open("all-MiniLM-L6-v2")?.load::<HuggingFaceBert>(&mut *model)?;
//! # Ok::<(), constformer::load::LoadError>(())
//! ```
//!
//! A [`Checkpoint`] is a file, a folder, shards or bytes. What its tensors are called and how they are stored is said by a
//! [`Scheme`], a type:
//!
//! | scheme | written by | stores |
//! |---|---|---|
//! | [`Native`] | names of this library | as [`Parameters`] names them |
//! | [`TorchEncoder`], [`TorchDecoder`], [`TorchTransformer`] | PyTorch's `nn.TransformerEncoder` and kin | query, key and value as one matrix |
//! | [`HuggingFaceBert`], [`HuggingFaceRoberta`] | transformers | |
//! | [`HuggingFaceGpt2`] | transformers | query, key and value as one matrix; matrices transposed |
//! | [`HuggingFaceLlama`] | transformers | rotary positions half split |
//! | [`MetaLlama`] | Meta, llama2.c | rotary positions interleaved |
//! | [`Kwt1`] | the keyword transformer | |
//! | [`MinGpt`], [`NanoGpt`] | Karpathy's | query, key and value as one matrix |
//!
//! All tensors of the model must be there, in their shapes, as F64, F32, F16 or BF16, and finite; and no tensor may be left
//! over but those that the scheme knows to be harmless. [`LoadError`] lists everything that is wrong, and then the model is as
//! it was before.
//!
//! [`export`] writes a model as such a file. [`compare`] compares what a loaded model does with the activations of the other
//! implementation, and names the first that departs.
//!
//! [`llama2c()`] loads the `.bin` files of llama2.c.
//!
//! Names and shapes do not tell an ε, an activation or a number of heads. [`check_config`] compares the `config.json` that
//! Hugging Face writes with the model's type.
//!
//! [`Parameters`]: crate::Parameters

mod agreement;
mod checkpoint;
mod compare;
mod config;
mod error;
mod export;
mod fill;
mod llama2c;
mod name;
mod numbers;
mod origin;
mod scheme;
mod schemes;
mod shards;

pub use agreement::{Agreement, CompareError, Compared, Departure};
pub use checkpoint::Checkpoint;
pub use compare::{Comparison, Outcome, compare};
#[cfg(feature = "cli")]
pub(crate) use config::{CHECKED, activation, contradictions as config_contradictions};
pub use config::{ConfigError, Contradiction, check_config};
pub use error::{Fault, LoadError};
pub use export::{ExportError, export};
pub use llama2c::{Llama2cError, Llama2cHeader, llama2c};
pub use origin::Origin;
pub use scheme::Scheme;
pub use schemes::{
    HuggingFaceBert, HuggingFaceGpt2, HuggingFaceLlama, HuggingFaceRoberta, Kwt1, MetaLlama, MinGpt, NanoGpt, Native,
    TorchDecoder, TorchEncoder, TorchTransformer,
};
