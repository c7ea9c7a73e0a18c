//! Llama as Meta names it.

use crate::load::{
    Origin, Scheme,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// Meta's Llama and llama2.c: `layers.N.attention.wq` and so on
///
/// Its queries and keys are for [`Interleaved`](crate::Interleaved) rotary positions.
///
/// | | |
/// |---|---|
/// | harmless if left over | `rope.freqs`, a table that follows from θ |
/// | tied | `output.weight` to `tok_embeddings.weight` |
#[derive(Debug)]
pub enum MetaLlama {}

impl Scheme for MetaLlama {
    const TIED: Option<[&'static str; 2]> = Some(["output.weight", "tok_embeddings.weight"]);
    const EMBEDDING: Option<&'static str> = Some("tok_embeddings");

    fn origin(name: &str) -> Option<Origin> {
        match Name::parse(name) {
            Name::Embedding("tokens.weight" | "weight") => Some(Origin::new("tok_embeddings.weight")),
            Name::Head(rest) => Some(Origin::new(format!("output.{rest}"))),
            Name::Norm { rest, .. } => Some(Origin::new(format!("norm.{rest}"))),
            Name::Block { block, rest, .. } => {
                let (part, kind) = rest.rsplit_once('.')?;
                let theirs = match part {
                    "attention.query" => "attention.wq",
                    "attention.key" => "attention.wk",
                    "attention.value" => "attention.wv",
                    "attention.output" => "attention.wo",
                    "attention_norm" => "attention_norm",
                    "feed_forward.gate" => "feed_forward.w1",
                    "feed_forward.outer" => "feed_forward.w2",
                    "feed_forward.inner" => "feed_forward.w3",
                    "feed_forward_norm" => "ffn_norm",
                    _ => return None,
                };
                Some(Origin::new(format!("layers.{block}.{theirs}.{kind}")))
            }
            Name::Embedding(_) | Name::Other(_) => None,
        }
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "")
    }

    fn harmless(name: &str) -> bool {
        name == "rope.freqs"
    }
}
