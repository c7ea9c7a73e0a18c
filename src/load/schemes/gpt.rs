//! GPT-2 and those that took over its names.

use crate::load::{
    Origin, Scheme,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// GPT-2 of Hugging Face: `h.N.attn.c_attn` and so on
///
/// | | |
/// |---|---|
/// | stored | `c_attn` is query, key and value side by side; matrices of blocks are `[in, out]` (`Conv1D`) |
/// | dropped | the prefix `transformer.` |
/// | harmless if left over | `attn.bias`, `attn.masked_bias`: masks |
/// | tied | `lm_head.weight` to `wte.weight` |
#[derive(Debug)]
pub enum HuggingFaceGpt2 {}

/// nanoGPT: the names of [`HuggingFaceGpt2`], but matrices are `[out, in]` (`nn.Linear`)
///
/// Its GELU is the exact one, which no name or shape tells: the family is `Masked<Custom<PreLn, Gelu, WithFinalNorm>, Causal>`, not
/// [`Gpt2`](crate::Gpt2).
#[derive(Debug)]
pub enum NanoGpt {}

/// minGPT: as [`NanoGpt`]; its head is not tied, and its GELU is that of [`Gpt2`](crate::Gpt2).
pub type MinGpt = NanoGpt;

fn origin(name: &str, transposed: bool) -> Option<Origin> {
    match Name::parse(name) {
        Name::Embedding("tokens.weight" | "weight") => Some(Origin::new("wte.weight")),
        Name::Embedding("positions.weight") => Some(Origin::new("wpe.weight")),
        Name::Head("weight") => Some(Origin::new("lm_head.weight")),
        Name::Norm { rest, .. } => Some(Origin::new(format!("ln_f.{rest}"))),
        Name::Block { block, rest, .. } => {
            let (part, kind) = rest.rsplit_once('.')?;
            let of = |name: &str| Origin::new(format!("h.{block}.{name}.{kind}"));
            let matrix = |name: &str| if transposed { of(name).transposed() } else { of(name) };
            Some(match part {
                "attention.query" => matrix("attn.c_attn").part(0, 3),
                "attention.key" => matrix("attn.c_attn").part(1, 3),
                "attention.value" => matrix("attn.c_attn").part(2, 3),
                "attention.output" => matrix("attn.c_proj"),
                "attention_norm" => of("ln_1"),
                "feed_forward.inner" => matrix("mlp.c_fc"),
                "feed_forward.outer" => matrix("mlp.c_proj"),
                "feed_forward_norm" => of("ln_2"),
                _ => return None,
            })
        }
        Name::Embedding(_) | Name::Head(_) | Name::Other(_) => None,
    }
}

fn is_mask(name: &str) -> bool {
    name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")
}

const TIED: Option<[&str; 2]> = Some(["lm_head.weight", "wte.weight"]);

impl Scheme for HuggingFaceGpt2 {
    const TIED: Option<[&'static str; 2]> = TIED;
    const EMBEDDING: Option<&'static str> = Some("drop");

    fn origin(name: &str) -> Option<Origin> {
        origin(name, true)
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "transformer.")
    }

    fn harmless(name: &str) -> bool {
        is_mask(name)
    }
}

impl Scheme for NanoGpt {
    const TIED: Option<[&'static str; 2]> = TIED;
    const EMBEDDING: Option<&'static str> = Some("drop");

    fn origin(name: &str) -> Option<Origin> {
        origin(name, false)
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "transformer.")
    }

    fn harmless(name: &str) -> bool {
        is_mask(name)
    }
}
