//! Whole models for text: an embedding, a stack of blocks, and what is made of its tokens.

mod bert_embedding;
mod cached;
mod head;
mod language_model;
mod masked_head;
mod masked_language_model;
mod sinusoidal_embedding;
mod text_encoder;
mod transformer;

pub use bert_embedding::BertEmbedding;
pub use cached::{CachedMemory, CachedModel, CachedWorking};
pub use head::{Head, Tied, TokenTable, TrainableHead};
pub use language_model::LanguageModel;
pub use masked_head::MaskedHead;
pub use masked_language_model::MaskedLanguageModel;
pub use sinusoidal_embedding::SinusoidalEmbedding;
pub use text_encoder::TextEncoder;
pub use transformer::{Transformer, TransformerMemory};
