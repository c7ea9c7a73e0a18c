//! Models that have no `config.json` of Hugging Face.

use super::{Config, Design, Fill, Keys, hugging_face::language_model, hugging_face::stack};
use crate::{
    Activation, Gelu, GeluTanh,
    blueprint::{Blueprint, BlueprintError, Expression, family::Parts},
    load::{Kwt1, Llama2cHeader, MetaLlama, MinGpt, NanoGpt},
};
use std::vec::Vec;

/// Its GELU has no tanh, its head is its table, and its biases are optional.
pub(super) fn nano_gpt(keys: &mut Keys<'_>) -> Design {
    let bias = keys.flag("bias", true);
    Design::new::<NanoGpt>(gpt(keys, Parts { causal: true, ..Parts::custom(true, Gelu::NAME, true, 5, bias) }, true))
}

/// Its GELU is that of GPT-2, and its head a matrix of its own.
pub(super) fn min_gpt(keys: &mut Keys<'_>) -> Design {
    Design::new::<MinGpt>(gpt(
        keys,
        Parts { causal: true, ..Parts::custom(true, GeluTanh::NAME, true, 5, true) },
        false,
    ))
}

fn gpt(keys: &mut Keys<'_>, family: Parts, tied: bool) -> Expression {
    let [vocabulary, d_model, positions] = ["vocab_size", "n_embd", "block_size"].map(|key| keys.number(key));
    let decoder = stack("Decoder", family, [keys.number("n_layer"), d_model, 4 * d_model, keys.number("n_head")]);
    let embedding = Expression::new("TextEmbedding", [vocabulary, d_model, positions].map(Expression::from));
    language_model(embedding, decoder, [d_model, vocabulary], tied)
}

/// The keyword transformer.
pub(super) fn kwt(keys: &mut Keys<'_>) -> Design {
    let [features, d_model, positions] = ["features", "d_model", "positions"].map(|key| keys.number(key));
    let sizes = ["num_layers", "d_model", "dim_feedforward", "nhead"].map(|key| Expression::from(keys.number(key)));
    let encoder = Expression::new("Encoder", [Expression::named("Kwt")].into_iter().chain(sizes));
    let embedding = Expression::new("PatchEmbedding", [features, d_model, positions].map(Expression::from));
    let classes = keys.number("classes");
    Design::new::<Kwt1>(Expression::new("Classifier", [embedding, encoder, d_model.into(), classes.into()]))
}

/// The type that the header of a llama2.c checkpoint says.
pub(crate) fn of_llama2c(header: &Llama2cHeader) -> Result<Config, BlueprintError> {
    let Llama2cHeader { d_model, d_ff, layers, heads, kv_heads, vocabulary, tied, .. } = *header;
    let mut decoder = [Expression::named("Llama"), layers.into(), d_model.into(), d_ff.into(), heads.into()].to_vec();
    if kv_heads != heads {
        decoder.extend([Expression::named("f32"), kv_heads.into(), (d_model / heads * kv_heads).into()]);
    }
    let embedding = Expression::new("TokenEmbedding", [vocabulary.into(), d_model.into()]);
    let model = language_model(embedding, Expression::new("Decoder", decoder), [d_model, vocabulary], tied);
    let fill: Fill = |checkpoint, model| checkpoint.fill::<MetaLlama>(model);
    Ok(Config { blueprint: Blueprint::of(&model)?, fill, unread: Vec::new() })
}
