//! BERT and its kin, of Hugging Face.

use crate::load::{
    Origin, Scheme,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// BERT of Hugging Face, MiniLM and most sentence embeddings: `encoder.layer.N.attention.self.query` and so on
///
/// | | |
/// |---|---|
/// | dropped | the prefix `bert.`; `LayerNorm.gamma` and `LayerNorm.beta` of old files are `weight` and `bias` |
/// | harmless if left over | `embeddings.position_ids`; `pooler.`; `cls.`, the heads of the pre-training |
#[derive(Debug)]
pub enum HuggingFaceBert {}

/// RoBERTa of Hugging Face, XLM-RoBERTa: as [`HuggingFaceBert`], but its first two positions are not those of tokens
///
/// | | |
/// |---|---|
/// | dropped | the prefix `roberta.`; the first two rows of `position_embeddings` |
/// | harmless if left over | `embeddings.position_ids`; `pooler.`; `lm_head.`, the head of the pre-training |
#[derive(Debug)]
pub enum HuggingFaceRoberta {}

fn origin(name: &str, first_position: usize) -> Option<Origin> {
    match Name::parse(name) {
        Name::Embedding("positions.weight") => {
            Some(Origin::new("embeddings.position_embeddings.weight").from_row(first_position))
        }
        Name::Embedding(rest) => Some(Origin::new(match rest {
            "tokens.weight" => "embeddings.word_embeddings.weight",
            "types" => "embeddings.token_type_embeddings.weight",
            "norm.weight" => "embeddings.LayerNorm.weight",
            "norm.bias" => "embeddings.LayerNorm.bias",
            _ => return None,
        })),
        Name::Block { block, rest, .. } => {
            let (part, kind) = rest.rsplit_once('.')?;
            let theirs = match part {
                "attention.query" => "attention.self.query",
                "attention.key" => "attention.self.key",
                "attention.value" => "attention.self.value",
                "attention.output" => "attention.output.dense",
                "attention_norm" => "attention.output.LayerNorm",
                "feed_forward.inner" => "intermediate.dense",
                "feed_forward.outer" => "output.dense",
                "feed_forward_norm" => "output.LayerNorm",
                _ => return None,
            };
            Some(Origin::new(format!("encoder.layer.{block}.{theirs}.{kind}")))
        }
        Name::Head(_) | Name::Norm { .. } | Name::Other(_) => None,
    }
}

fn canonical(name: &str, prefix: &str) -> String {
    let name = unwrapped(name, prefix);
    match name.rsplit_once("LayerNorm.") {
        Some((before, "gamma")) => format!("{before}LayerNorm.weight"),
        Some((before, "beta")) => format!("{before}LayerNorm.bias"),
        _ => name,
    }
}

fn harmless(name: &str, head: &str) -> bool {
    name == "embeddings.position_ids" || name.starts_with("pooler.") || name.starts_with(head)
}

impl Scheme for HuggingFaceBert {
    fn origin(name: &str) -> Option<Origin> {
        origin(name, 0)
    }

    fn canonical(name: &str) -> String {
        canonical(name, "bert.")
    }

    fn harmless(name: &str) -> bool {
        harmless(name, "cls.")
    }
}

impl Scheme for HuggingFaceRoberta {
    fn origin(name: &str) -> Option<Origin> {
        origin(name, 2)
    }

    fn canonical(name: &str) -> String {
        canonical(name, "roberta.")
    }

    fn harmless(name: &str) -> bool {
        harmless(name, "lm_head.")
    }
}
