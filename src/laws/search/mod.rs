//! The search for a counterexample: what [`check`](super::check) does, with the counterexample as a value.
//!
//! `None` says that none was found. The functions, and which laws they ask, are those of [`check`](super::check).

mod blocks;
mod counterexample;
mod family;
mod functions;
mod images;
mod layers;
mod norms;
mod sub_layers;

pub use blocks::block;
pub use counterexample::Counterexample;
pub use family::family;
pub use functions::{activation, gate, softmax};
pub use images::image;
pub use layers::{bidirectional, causal, layer};
pub use norms::{layer_norm, norm, rms_norm};
pub use sub_layers::{attention, feed_forward};
