//! Inputs and parameters to test with.
//!
//! What makes a law fail is made simple: fewer tokens, then zeros, then ones and other short numbers, in tokens and in tensors, as
//! long as the law still fails.

mod explain;
mod images;
mod models;
mod numbers;
mod scores;
mod simpler;
mod tokens;

pub use explain::Explain;
pub(super) use explain::Named;
pub use images::{Damage, Damaged, damaged_images};
pub(super) use models::plain;
pub use models::{ModelTree, Models, Random, fill, model, models};
pub use scores::{extreme_scores, scores};
pub use tokens::{Padded, TokenLists, TokensTree, extreme_tokens, padded, tokens};
