//! The models of transformers.

use super::{Design, Keys};
use crate::{
    Activation, Gelu, GeluTanh, Pairing, Silu,
    blueprint::{
        Expression,
        family::{Parts, theta_in_rust},
    },
    load::{Contradiction, HuggingFaceBert, HuggingFaceGpt2, HuggingFaceLlama, HuggingFaceRoberta},
};
use serde_json::{Map, Value};
use std::{format, string::String, vec, vec::Vec};

pub(super) fn bert(keys: &mut Keys<'_>) -> Design {
    Design::new::<HuggingFaceBert>(text_encoder(keys, 12, 0))
}

/// The first two rows of its table of positions are not those of tokens.
pub(super) fn roberta(keys: &mut Keys<'_>) -> Design {
    Design::new::<HuggingFaceRoberta>(text_encoder(keys, 5, 2))
}

fn text_encoder(keys: &mut Keys<'_>, exponent: u64, first_position: usize) -> Expression {
    let (vocabulary, d_model) = (keys.number("vocab_size"), keys.number("hidden_size"));
    let positions = keys.number("max_position_embeddings").saturating_sub(first_position).max(1);
    let types = keys.number_if("type_vocab_size").unwrap_or(2);
    let exponent = keys.exponent("layer_norm_eps", exponent);
    let activation = keys.activation("hidden_act", Gelu::NAME);
    let mut of = vec![vocabulary.into(), d_model.into(), positions.into()];
    if (types, exponent) != (2, 12) {
        of.push(types.into());
    }
    if exponent != 12 {
        of.push(Expression::unsigned(exponent));
    }
    let blocks = Parts::custom(false, activation, false, exponent, true);
    let sizes = ["num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads"];
    let encoder = stack("Encoder", blocks, sizes.map(|key| keys.number(key)));
    Expression::new("TextEncoder", [Expression::new("BertEmbedding", of), encoder, d_model.into()])
}

/// What sentence-transformers makes of the tokens; nothing, if it is the mean.
pub(super) fn pooling(config: &Map<String, Value>, keys: &mut Keys<'_>) -> Option<Expression> {
    let is_mode = |(key, value): &(&String, &Value)| key.starts_with("pooling_mode") && **value != Value::Bool(false);
    let modes: Vec<_> = config.iter().filter(is_mode).map(|(key, value)| (key.as_str(), value)).collect();
    match modes[..] {
        [("pooling_mode_mean_tokens", Value::Bool(true))] => None,
        [("pooling_mode_cls_token", Value::Bool(true))] => Some(Expression::named("FirstToken")),
        _ => {
            let expected = "pooling_mode_mean_tokens or pooling_mode_cls_token".into();
            let found = modes.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ");
            let found = if found.is_empty() { "nothing".into() } else { found };
            keys.problems.push(Contradiction { key: "1_Pooling/config.json".into(), expected, found });
            None
        }
    }
}

pub(super) fn gpt2(keys: &mut Keys<'_>) -> Design {
    let (vocabulary, d_model) = (keys.number("vocab_size"), keys.number("n_embd"));
    let positions = keys.number("n_positions");
    let d_ff = keys.number_if("n_inner").unwrap_or(4 * d_model);
    let activation = keys.activation("activation_function", GeluTanh::NAME);
    let exponent = keys.exponent("layer_norm_epsilon", 5);
    keys.only("scale_attn_weights", true);
    let family = Parts { causal: true, ..Parts::custom(true, activation, true, exponent, true) };
    let decoder = stack("Decoder", family, [keys.number("n_layer"), d_model, d_ff, keys.number("n_head")]);
    let tied = keys.flag("tie_word_embeddings", true);
    let embedding = Expression::new("TextEmbedding", [vocabulary, d_model, positions].map(Expression::from));
    Design::new::<HuggingFaceGpt2>(language_model(embedding, decoder, [d_model, vocabulary], tied))
}

pub(super) fn llama(keys: &mut Keys<'_>) -> Design {
    let (vocabulary, d_model) = (keys.number("vocab_size"), keys.number("hidden_size"));
    let (layers, d_ff) = (keys.number("num_hidden_layers"), keys.number("intermediate_size"));
    let heads = keys.number("num_attention_heads");
    let kv_heads = keys.number_if("num_key_value_heads").unwrap_or(heads);
    let exponent = keys.exponent("rms_norm_eps", 6);
    let theta = theta(keys);
    if keys.activation("hidden_act", Silu::NAME) != Silu::NAME {
        keys.refuse("hidden_act", "silu");
    }
    keys.only("attention_bias", false);
    keys.only("mlp_bias", false);
    let mut decoder = vec![layers, d_model, d_ff, heads].into_iter().map(Expression::from).collect::<Vec<_>>();
    if kv_heads != heads {
        decoder.extend([Expression::named("f32"), kv_heads.into(), (d_model / heads * kv_heads).into()]);
    }
    let family = Parts::llama(Pairing::HalfSplit, theta, exponent).expression();
    let decoder = Expression::new("Decoder", family.into_iter().chain(decoder));
    let embedding = Expression::new("TokenEmbedding", [vocabulary.into(), d_model.into()]);
    let has_head = keys.has_head;
    let tied = keys.flag("tie_word_embeddings", !has_head);
    Design::new::<HuggingFaceLlama>(language_model(embedding, decoder, [d_model, vocabulary], tied))
}

/// θ of rotary positions, which newer files have in a table of their own.
fn theta(keys: &mut Keys<'_>) -> u64 {
    let nested = keys.get("rope_parameters").and_then(|parameters| parameters.get("rope_theta"));
    let Some(value) = keys.get("rope_theta").or(nested) else { return 10_000 };
    let theta =
        value.as_f64().filter(|theta| theta.fract() == 0.0 && (1.0..1e15).contains(theta)).map(|theta| theta as u64);
    match theta {
        Some(theta) if theta_in_rust(theta).is_some() => theta,
        _ => {
            let expected = "a whole number of at most four digits and zeros".into();
            keys.problems.push(Contradiction { key: "rope_theta".into(), expected, found: format!("{value}") });
            10_000
        }
    }
}

/// A stack of one of the types that have a name for every family that is asked for here.
pub(super) fn stack(name: &str, family: Parts, sizes: [usize; 4]) -> Expression {
    Expression::new(name, family.expression().into_iter().chain(sizes.map(Expression::from)))
}

pub(super) fn language_model(embedding: Expression, stack: Expression, widths: [usize; 2], tied: bool) -> Expression {
    let widths = widths.map(Expression::from);
    let head = || {
        let rest = [Expression::named("f32"), Expression::named("NoBias")];
        Expression::new("Linear", widths.iter().cloned().chain(rest))
    };
    let head = if tied { None } else { Some(head()) };
    Expression::new("LanguageModel", [embedding, stack].into_iter().chain(widths.clone()).chain(head))
}
