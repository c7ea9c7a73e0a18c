//! What the type of a model says about it, as a constant.

mod of_embeddings;
mod of_models;
mod of_stacks;

use crate::rotation::Pairing;

/// A model whose type says what it is, so that the `config.json` of a checkpoint can be checked against it.
#[diagnostic::on_unimplemented(
    message = "the hyperparameters of `{Self}` are not known",
    label = "an embedding, a stack or a model of this library is wanted here"
)]
pub trait Described {
    /// What the type says.
    const HYPERPARAMETERS: Hyperparameters;
}

macro_rules! hyperparameters {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// What the type of a model says; `None` where it says nothing.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct Hyperparameters {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Hyperparameters {
            /// Nothing.
            pub const NONE: Self = Self { $($field: None),* };

            /// These, and those of `other` where they say nothing.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self { $($field: match self.$field { Some(x) => Some(x), None => other.$field }),* }
            }

            /// Where `theirs` say something else.
            #[cfg(feature = "safetensors")]
            pub(crate) fn contradictions(&self, theirs: &Self) -> std::vec::Vec<crate::load::Contradiction> {
                let mut all = std::vec::Vec::new();
                $(if let (Some(ours), Some(theirs)) = (self.$field, theirs.$field)
                    && ours != theirs
                {
                    let [expected, found] = [ours, theirs].map(|x| std::format!("{x:?}"));
                    all.push(crate::load::Contradiction { key: stringify!($field).into(), expected, found });
                })*
                all
            }
        }
    };
}

hyperparameters! {
    /// Number of blocks.
    layers: usize,
    /// Features of a token.
    d_model: usize,
    /// Features inside of feed-forward layers.
    d_ff: usize,
    /// Heads of queries.
    heads: usize,
    /// Heads of keys and values.
    kv_heads: usize,
    /// Token ids.
    vocabulary: usize,
    /// Learned positions.
    positions: usize,
    /// Types of texts.
    types: usize,
    /// Whether norms are Pre-LN.
    norm_first: bool,
    /// Whether norms are RMSNorm and not LayerNorm.
    rms_norm: bool,
    /// The ε of norms in blocks.
    epsilon: f32,
    /// The ε of the embedding's norm.
    embedding_epsilon: f32,
    /// The ε of the head's norm.
    head_epsilon: f32,
    /// Whether a token sees only itself and those before it.
    causal: bool,
    /// The [`NAME`](crate::Activation::NAME) of the activation.
    activation: &'static str,
    /// That of the head.
    head_activation: &'static str,
    /// Whether feed-forward layers are gated.
    gated: bool,
    /// Which columns of a head rotary positions pair.
    pairing: Pairing,
    /// The base of rotary positions.
    theta: f64,
    /// Whether the head is the embedding.
    tied: bool,
}
