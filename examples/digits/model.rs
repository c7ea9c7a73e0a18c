//! The model of this example, as a type.

use constformer::{Classifier, Encoder, PatchEmbedding, Vit};

/// A vision transformer: 16 patches of 2 x 2 pixels and a class token, 2 layers, 32 features, 96 between the products of the
/// feed-forward layers, 4 heads, 10 classes.
pub(crate) type Digits = Classifier<PatchEmbedding<4, 32, TOKENS>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;

/// 16 patches and the class token.
pub(crate) const TOKENS: usize = 17;
