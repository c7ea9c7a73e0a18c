//! A trained vision transformer in a web page: strokes in, a digit out, and what every head attends to.
//!
//! No framework and no generated glue: `exports` is what JavaScript calls, and it reads results where they lie.

#![cfg_attr(target_arch = "wasm32", no_std)]

mod attention;
mod drawing;
mod exports;
#[cfg(target_arch = "wasm32")]
mod panic;
mod reader;

pub use attention::Attention;
pub use drawing::{Drawing, Image};
pub use reader::{CLASSES, HEADS, LAYERS, Reader, TOKENS};
