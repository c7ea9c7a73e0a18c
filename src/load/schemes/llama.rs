//! Llama and its kin, of Hugging Face.

use crate::load::{
    Origin, Scheme,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// Llama of Hugging Face, TinyLlama, SmolLM: `layers.N.self_attn.q_proj` and so on
///
/// Its queries and keys are for [`HalfSplit`](crate::HalfSplit) rotary positions.
///
/// | | |
/// |---|---|
/// | dropped | the prefix `model.` |
/// | harmless if left over | `rotary_emb.inv_freq`, a table that follows from θ |
/// | tied | `lm_head.weight` to `embed_tokens.weight` |
#[derive(Debug)]
pub enum HuggingFaceLlama {}

impl Scheme for HuggingFaceLlama {
    const TIED: Option<[&'static str; 2]> = Some(["lm_head.weight", "embed_tokens.weight"]);
    const EMBEDDING: Option<&'static str> = Some("embed_tokens");

    fn origin(name: &str) -> Option<Origin> {
        match Name::parse(name) {
            Name::Embedding("tokens.weight" | "weight") => Some(Origin::new("embed_tokens.weight")),
            Name::Head(rest) => Some(Origin::new(format!("lm_head.{rest}"))),
            Name::Norm { rest, .. } => Some(Origin::new(format!("norm.{rest}"))),
            Name::Block { block, rest, .. } => {
                let (part, kind) = rest.rsplit_once('.')?;
                let theirs = match part {
                    "attention.query" => "self_attn.q_proj",
                    "attention.key" => "self_attn.k_proj",
                    "attention.value" => "self_attn.v_proj",
                    "attention.output" => "self_attn.o_proj",
                    "attention_norm" => "input_layernorm",
                    "feed_forward.gate" => "mlp.gate_proj",
                    "feed_forward.inner" => "mlp.up_proj",
                    "feed_forward.outer" => "mlp.down_proj",
                    "feed_forward_norm" => "post_attention_layernorm",
                    _ => return None,
                };
                Some(Origin::new(format!("layers.{block}.{theirs}.{kind}")))
            }
            Name::Embedding(_) | Name::Other(_) => None,
        }
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "model.")
    }

    fn harmless(name: &str) -> bool {
        name.ends_with("rotary_emb.inv_freq")
    }
}
