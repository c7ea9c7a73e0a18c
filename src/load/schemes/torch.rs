//! PyTorch's own transformers.

use crate::load::{
    Origin, Scheme,
    compare::module,
    name::{Name, unwrapped},
};
use std::{format, string::String};

/// `nn.TransformerEncoder` and `nn.TransformerEncoderLayer`, causal ones too
///
/// `self_attn.in_proj_weight` is query, key and value one above the other. A prefix `_orig_mod.` or `module.` is dropped.
#[derive(Debug)]
pub enum TorchEncoder {}

/// `nn.TransformerDecoder` and `nn.TransformerDecoderLayer`
///
/// As [`TorchEncoder`], and `multihead_attn` is the cross-attention.
#[derive(Debug)]
pub enum TorchDecoder {}

/// `nn.Transformer`: [`TorchEncoder`] under `encoder.`, [`TorchDecoder`] under `decoder.`; and an `nn.Embedding` called
/// `embedding`, the `nn.Transformer` beside it being called `transformer`
#[derive(Debug)]
pub enum TorchTransformer {}

/// A tensor of a layer of an encoder, or else of a decoder.
fn layer(prefix: &str, rest: &str, encoder: bool) -> Option<Origin> {
    let (part, kind) = rest.rsplit_once('.')?;
    let fused = |attention: &str, i| Some(Origin::new(format!("{prefix}{attention}.in_proj_{kind}")).part(i, 3));
    let whole = |name: &str| Some(Origin::new(format!("{prefix}{name}.{kind}")));
    match part {
        "attention.query" | "self_attention.query" => fused("self_attn", 0),
        "attention.key" | "self_attention.key" => fused("self_attn", 1),
        "attention.value" | "self_attention.value" => fused("self_attn", 2),
        "attention.output" | "self_attention.output" => whole("self_attn.out_proj"),
        "cross_attention.query" => fused("multihead_attn", 0),
        "cross_attention.key" => fused("multihead_attn", 1),
        "cross_attention.value" => fused("multihead_attn", 2),
        "cross_attention.output" => whole("multihead_attn.out_proj"),
        "feed_forward.inner" => whole("linear1"),
        "feed_forward.outer" => whole("linear2"),
        "attention_norm" | "self_attention_norm" => whole("norm1"),
        "cross_attention_norm" => whole("norm2"),
        "feed_forward_norm" => whole(if encoder { "norm2" } else { "norm3" }),
        _ => None,
    }
}

/// `nn.MultiheadAttention` calls none of the modules that have its parameters.
fn activation<S: Scheme>(name: &str) -> Option<Origin> {
    let attention = |ours: &str, theirs: &str| {
        if !name.ends_with(ours) {
            return None;
        }
        let norm = S::origin(&format!("{name}_norm.weight"))?;
        let beside = norm.name().rsplit_once(".norm");
        Some(Origin::new(beside.map_or(theirs.into(), |(layer, _)| format!("{layer}.{theirs}"))))
    };
    attention("cross_attention", "multihead_attn")
        .or_else(|| attention("attention", "self_attn"))
        .or_else(|| module::<S>(name))
}

fn stack(name: Name<'_>, prefix: &str, encoder: bool) -> Option<Origin> {
    match name {
        Name::Block { block, rest, .. } => layer(&format!("{prefix}layers.{block}."), rest, encoder),
        Name::Norm { rest, .. } => Some(Origin::new(format!("{prefix}norm.{rest}"))),
        Name::Other(rest) => layer(prefix, rest, encoder),
        Name::Embedding(_) | Name::Head(_) => None,
    }
}

impl Scheme for TorchEncoder {
    fn origin(name: &str) -> Option<Origin> {
        stack(Name::parse(name), "", true)
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "")
    }

    fn activation(name: &str) -> Option<Origin> {
        activation::<Self>(name)
    }
}

impl Scheme for TorchDecoder {
    fn origin(name: &str) -> Option<Origin> {
        stack(Name::parse(name), "", false)
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "")
    }

    fn activation(name: &str) -> Option<Origin> {
        activation::<Self>(name)
    }
}

impl Scheme for TorchTransformer {
    fn origin(name: &str) -> Option<Origin> {
        let name = Name::parse(name);
        match name {
            Name::Embedding("tokens.weight" | "weight") => Some(Origin::new("embedding.weight")),
            Name::Block { stack: "encoder", .. } | Name::Norm { stack: "encoder", .. } => stack(name, "encoder.", true),
            Name::Block { stack: "decoder", .. } | Name::Norm { stack: "decoder", .. } => {
                stack(name, "decoder.", false)
            }
            _ => None,
        }
    }

    fn canonical(name: &str) -> String {
        unwrapped(name, "transformer.")
    }

    fn activation(name: &str) -> Option<Origin> {
        activation::<Self>(name)
    }
}
