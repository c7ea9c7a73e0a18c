//! constformer against other frameworks, in one run and in turns: the same weights, the same shapes, one core, `f32`.
//!
//! `taskset -c 1 cargo run --release --manifest-path benches/peers/Cargo.toml -- --help`

pub mod document;
pub mod environment;
pub mod growth;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod peers;
pub mod plot;
pub mod program;
pub mod report;
pub mod shape;
pub mod table;
pub mod weights;
pub mod workload;

#[cfg(feature = "onnx")]
pub mod onnx;
