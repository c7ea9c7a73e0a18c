//! A trained vision transformer in a web page: strokes in, a digit out, and what every head attends to.
//!
//! No framework and no generated glue: `exports` is what JavaScript calls, and it reads results where they lie.

#![cfg_attr(target_arch = "wasm32", no_std)]

mod attention;
mod drawing;
#[cfg(target_arch = "wasm32")] // elsewhere, some of its names are those of the C library
mod exports;
#[path = "../../digits/model.rs"]
mod model;
#[cfg(target_arch = "wasm32")]
mod panic;
mod reader;

pub use attention::Attention;
pub use drawing::{Drawing, Image};
pub use reader::{CLASSES, HEADS, LAYERS, PARAMETERS, Reader};
