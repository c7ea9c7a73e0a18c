//! The keyword transformer.

use crate::load::{
    Origin, Scheme,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// KWT-1 as converted from its TensorFlow Lite model: `blocks.N.q`, `blocks.N.fc1` and so on; matrices are `[out, in]`
#[derive(Debug)]
pub enum Kwt1 {}

impl Scheme for Kwt1 {
    fn origin(name: &str) -> Option<Origin> {
        match Name::parse(name) {
            Name::Embedding(rest) => Some(Origin::new(match rest {
                "projection.weight" => "patch_proj.weight",
                "projection.bias" => "patch_proj.bias",
                "class_token" => "cls",
                "positions.weight" => "pos_emb",
                _ => return None,
            })),
            Name::Head(rest) => Some(Origin::new(format!("head.{rest}"))),
            Name::Block { block, rest, .. } => {
                let (part, kind) = rest.rsplit_once('.')?;
                let (theirs, kind) = match (part, kind) {
                    ("attention.query", _) => ("q", kind),
                    ("attention.key", _) => ("k", kind),
                    ("attention.value", _) => ("v", kind),
                    ("attention.output", _) => ("o", kind),
                    ("feed_forward.inner", _) => ("fc1", kind),
                    ("feed_forward.outer", _) => ("fc2", kind),
                    ("attention_norm", "weight") => ("ln1", "gamma"),
                    ("attention_norm", "bias") => ("ln1", "beta"),
                    ("feed_forward_norm", "weight") => ("ln2", "gamma"),
                    ("feed_forward_norm", "bias") => ("ln2", "beta"),
                    _ => return None,
                };
                Some(Origin::new(format!("blocks.{block}.{theirs}.{kind}")))
            }
            Name::Norm { .. } | Name::Other(_) => None,
        }
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "")
    }
}
