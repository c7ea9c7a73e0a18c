//! KWT-1 as a type, and what its checkpoint calls the tensors.

use constformer::{
    Classifier, Encoder, Kwt, PatchEmbedding,
    load::{Origin, Scheme},
};

/// The keyword transformer: 98 frames of 40 features and a class token, 12 layers, 64 features, 256 between the products of
/// the feed-forward layers, 1 head, 12 classes. Berg et al., Keyword Transformer, 2021.
pub(crate) type Kws = Classifier<PatchEmbedding<40, 64, TOKENS>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;

/// 98 frames and the class token.
pub(crate) const TOKENS: usize = 99;

/// The classes, in the order of the logits.
pub(crate) const LABELS: [&str; 12] =
    ["_silence_", "_unknown_", "yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"];

/// The names in `kwt1.safetensors`.
pub(crate) enum Kwt1 {}

impl Scheme for Kwt1 {
    fn origin(name: &str) -> Option<Origin> {
        let Some(of_block) = name.strip_prefix("encoder.blocks.") else {
            return Some(Origin::new(match name {
                "embedding.projection.weight" => "patch_proj.weight",
                "embedding.projection.bias" => "patch_proj.bias",
                "embedding.class_token" => "cls",
                "embedding.positions.weight" => "pos_emb",
                "head.weight" | "head.bias" => name,
                _ => return None,
            }));
        };
        let (block, rest) = of_block.split_once('.')?;
        let theirs = match rest {
            "attention.query.weight" => "q.weight",
            "attention.key.weight" => "k.weight",
            "attention.value.weight" => "v.weight",
            "attention.output.weight" => "o.weight",
            "attention.output.bias" => "o.bias",
            "attention_norm.weight" => "ln1.gamma",
            "attention_norm.bias" => "ln1.beta",
            "feed_forward.inner.weight" => "fc1.weight",
            "feed_forward.inner.bias" => "fc1.bias",
            "feed_forward.outer.weight" => "fc2.weight",
            "feed_forward.outer.bias" => "fc2.bias",
            "feed_forward_norm.weight" => "ln2.gamma",
            "feed_forward_norm.bias" => "ln2.beta",
            _ => return None,
        };
        Some(Origin::new(format!("blocks.{block}.{theirs}")))
    }
}
