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
/// | tied | `cls.predictions.decoder.weight` to `embeddings.word_embeddings.weight` |
#[derive(Debug)]
pub enum HuggingFaceBert {}

/// RoBERTa of Hugging Face, XLM-RoBERTa: as [`HuggingFaceBert`], but its first two positions are not those of tokens
///
/// | | |
/// |---|---|
/// | dropped | the prefix `roberta.`; the first two rows of `position_embeddings` |
/// | harmless if left over | `embeddings.position_ids`; `pooler.`; `lm_head.`, the head of the pre-training |
/// | tied | `lm_head.decoder.weight` to `embeddings.word_embeddings.weight` |
#[derive(Debug)]
pub enum HuggingFaceRoberta {}

/// What the head of the pre-training is called.
struct Names {
    dense: &'static str,
    norm: &'static str,
    bias: &'static str,
}

fn origin(name: &str, first_position: usize, head: &Names) -> Option<Origin> {
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
        Name::Head("decoder_bias") => Some(Origin::new(head.bias)),
        Name::Head(rest) => {
            let (part, kind) = rest.rsplit_once('.')?;
            let theirs = match part {
                "dense" => head.dense,
                "norm" => head.norm,
                _ => return None,
            };
            Some(Origin::new(format!("{theirs}.{kind}")))
        }
        Name::Norm { .. } | Name::Other(_) => None,
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
    const TIED: Option<[&'static str; 2]> =
        Some(["cls.predictions.decoder.weight", "embeddings.word_embeddings.weight"]);
    const EMBEDDING: Option<&'static str> = Some("embeddings");

    fn origin(name: &str) -> Option<Origin> {
        let head = Names {
            dense: "cls.predictions.transform.dense",
            norm: "cls.predictions.transform.LayerNorm",
            bias: "cls.predictions.bias",
        };
        origin(name, 0, &head)
    }

    fn canonical(name: &str) -> String {
        canonical(name, "bert.")
    }

    fn harmless(name: &str) -> bool {
        harmless(name, "cls.")
    }
}

impl Scheme for HuggingFaceRoberta {
    const TIED: Option<[&'static str; 2]> = Some(["lm_head.decoder.weight", "embeddings.word_embeddings.weight"]);
    const EMBEDDING: Option<&'static str> = Some("embeddings");

    fn origin(name: &str) -> Option<Origin> {
        let head = Names { dense: "lm_head.dense", norm: "lm_head.layer_norm", bias: "lm_head.bias" };
        origin(name, 2, &head)
    }

    fn canonical(name: &str) -> String {
        canonical(name, "roberta.")
    }

    fn harmless(name: &str) -> bool {
        harmless(name, "lm_head.")
    }
}
