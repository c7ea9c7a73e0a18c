//! The schemes of well-known libraries.

mod bert;
mod gpt;
mod kwt;
mod llama;
mod meta;
mod native;
mod torch;

pub use bert::{HuggingFaceBert, HuggingFaceRoberta};
pub use gpt::{HuggingFaceGpt2, MinGpt, NanoGpt};
pub use kwt::Kwt1;
pub use llama::HuggingFaceLlama;
pub use meta::MetaLlama;
pub use native::Native;
pub use torch::{TorchDecoder, TorchEncoder, TorchTransformer};
