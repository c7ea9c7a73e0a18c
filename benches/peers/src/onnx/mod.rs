//! A stack of blocks as an ONNX model.

mod graph;
mod proto;

pub use graph::{Style, model};
