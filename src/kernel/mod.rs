//! The one kernel: rows times a matrix, the result handed over while it is in registers.
//!
//! Linear maps, attention scores (queries times keys stored transposed) and contexts (probabilities times values) are the
//! same operation. Lanes run over outputs, so every number of a product is one sum in one order, whatever the machine's
//! width, the tile or the padding: that is why a batch equals its sequences one by one, bit for bit.

mod dots;
mod epilogue;
mod few_rows;
pub(crate) mod integer;
mod outer;
mod product;
mod scalar;
mod transposed;

pub(crate) use dots::dots;
#[expect(unreachable_pub, reason = "public traits name it in hidden methods")]
pub use epilogue::Epilogue;
pub(crate) use epilogue::{Add, Bias, Export, LowRank, Multiply, ScaleRows, Store};
pub(crate) use few_rows::FewRows;
pub(crate) use outer::OuterProducts;
pub(crate) use product::{PANEL, Product};
pub(crate) use scalar::{ScalarPanels, is_scalar};
pub(crate) use transposed::TransposedProduct;
