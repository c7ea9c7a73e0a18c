//! Whole models.

use super::{
    Blueprint, BlueprintError, Cost, Expression,
    arguments::{Arguments, Result, wrong},
    embeddings::{self, Embedding, embedding, sinusoidal},
    family::{ACTIVATIONS, EXPONENT, NormKind},
    layers::{self, Layer, any_linear, any_norm, cross, layer, linear, norm},
    memory::Memory,
    node::{Format, Node, START},
};
use crate::{
    Activation, FirstToken, Gelu, Head, Hyperparameters, Linear, Mean, Pooling, Tied, TokenEmbedding, cost::Macs,
};
use std::{format, vec};

/// What a type is.
pub(super) fn interpret(expression: &Expression) -> Result<Blueprint> {
    let (node, cost, hyperparameters) = match expression {
        Expression::Own(name, fields) => {
            let fields = fields.iter().map(|(name, field)| Ok((*name, interpret(field)?.node)));
            (Node::Struct(START.name(name), fields.collect::<Result<_>>()?), None, Hyperparameters::NONE)
        }
        Expression::Type(name, arguments)
            if matches!(name.as_str(), "TextEncoder" | "MaskedLanguageModel" | "LanguageModel" | "Classifier") =>
        {
            model(name, Arguments::new(name, arguments))?
        }
        Expression::Type(name, arguments) if name == "Transformer" => transformer(Arguments::new(name, arguments))?,
        Expression::Type(name, _) if embeddings::NAMES.contains(&name.as_str()) => {
            let Embedding { node, hyperparameters, .. } = embedding(expression)?;
            (node, None, hyperparameters)
        }
        other => match layer(other)? {
            Some(Layer { node, memory, macs, hyperparameters }) => {
                let memory = Memory { cached_layers: None, ..memory };
                (node, Some(Cost { memory, macs }), hyperparameters)
            }
            None => (part(other)?, None, Hyperparameters::NONE),
        },
    };
    Ok(Blueprint { expression: expression.clone(), node, cost, hyperparameters })
}

/// What cannot run on its own.
fn part(expression: &Expression) -> Result<Node> {
    if let Some(node) = cross(expression)? {
        return Ok(node);
    }
    match any_linear(expression)? {
        Some((node, _)) => Ok(node),
        None => any_norm(expression),
    }
}

/// An embedding and a stack, and what is made of them.
fn model(name: &str, mut arguments: Arguments<'_>) -> Result<(Node, Option<Cost>, Hyperparameters)> {
    let expression = arguments.expression("E")?;
    let of = embedding(expression)?;
    let goes_on = name == "LanguageModel"
        && matches!(expression, Expression::Type(name, _) if embeddings::INCREMENTAL.contains(&name.as_str()));
    let stack = arguments.expression("L")?;
    let Some(layer) = layer(stack)? else { return Err(BlueprintError::Own(format!("{stack}"))) };
    let d_model = arguments.number("D_MODEL")?;
    for (part, width) in [("embedding", of.hyperparameters.d_model), ("stack", Some(layer.memory.d_model))] {
        if width != Some(d_model) {
            let width = width.unwrap_or_default();
            return wrong(format!("`{name}`: {part} of width {d_model} (`D_MODEL`) expected, found one of {width}"));
        }
    }
    let hyperparameters = layer.hyperparameters.and(of.hyperparameters);
    let (mut macs, embedding) = (of.macs.and(layer.macs), ("embedding", of.node));
    let (node, hyperparameters) = match name {
        "LanguageModel" => {
            let vocabulary = arguments.number("VOCABULARY")?;
            let (head_name, head) = head(arguments.next(), of.hyperparameters.vocabulary, [d_model, vocabulary])?;
            macs = macs.and(Macs::once((d_model * vocabulary) as u64));
            let tied = Some(head_name == TIED);
            let fields = vec![embedding, ("decoder", layer.node), ("head", head)];
            let start = START.name("language model").name(head_name).number(vocabulary);
            (Node::Struct(start, fields), Hyperparameters { tied, ..Hyperparameters::NONE }.and(hyperparameters))
        }
        "MaskedLanguageModel" => {
            let vocabulary = arguments.number("VOCABULARY")?;
            if of.hyperparameters.vocabulary != Some(vocabulary) {
                let found = of.hyperparameters.vocabulary.unwrap_or_default();
                return wrong(format!("`{name}` wants an embedding of {vocabulary} tokens, found one of {found}"));
            }
            macs = macs.and(Macs::once((d_model * (d_model + vocabulary)) as u64));
            let head = masked_head(&mut arguments, d_model, vocabulary)?;
            let fields = vec![embedding, ("encoder", layer.node), ("head", head)];
            (Node::Struct(START.name("masked language model"), fields), hyperparameters)
        }
        "Classifier" => {
            let classes = arguments.number("CLASSES")?;
            let pooling = [FirstToken::NAME, Mean::NAME][arguments.one_of(&["FirstToken", "Mean"])?];
            let format = arguments.format()?;
            macs = macs.and(Macs::once((d_model * classes) as u64));
            let head = ("head", linear(format, d_model, classes, true));
            let fields = vec![embedding, ("encoder", layer.node), head, ("pooling", Node::Phantom)];
            (Node::Struct(START.name("classifier").name(pooling), fields), hyperparameters)
        }
        _ => {
            let pooling = [Mean::NAME, FirstToken::NAME][arguments.one_of(&["Mean", "FirstToken"])?];
            let fields = vec![embedding, ("encoder", layer.node), ("pooling", Node::Phantom)];
            (Node::Struct(START.name("text encoder").name(pooling), fields), hyperparameters)
        }
    };
    arguments.end()?;
    let memory = Memory { cached_layers: layer.memory.cached_layers.filter(|_| goes_on), ..layer.memory };
    Ok((node, Some(Cost { memory, macs }), hyperparameters))
}

/// The head of a `MaskedLanguageModel`.
fn masked_head(arguments: &mut Arguments<'_>, d_model: usize, vocabulary: usize) -> Result<Node> {
    let exponent = arguments.unsigned_or("X", 12, EXPONENT)?;
    let activation = match arguments.next() {
        None => Gelu::NAME,
        Some(argument) => match ACTIVATIONS.iter().find(|(name, _)| *argument == Expression::named(name)) {
            Some((_, name)) => *name,
            None => return Err(BlueprintError::Own(format!("{argument}"))),
        },
    };
    let fields = vec![
        ("dense", linear(Format::F32, d_model, d_model, true)),
        ("norm", norm(NormKind::Layer { exponent, bias: true }, d_model)),
        ("decoder_bias", Node::Vector(vocabulary)),
        ("activation", Node::Phantom),
    ];
    Ok(Node::Struct(START.name("masked head").name(activation), fields))
}

/// An encoder, and a decoder that attends to it.
fn transformer(mut arguments: Arguments<'_>) -> Result<(Node, Option<Cost>, Hyperparameters)> {
    let (encoder, decoder, [vocabulary, positions]) = layers::transformer(&mut arguments)?;
    arguments.end()?;
    let (d_model, memory) = (encoder.memory.d_model, encoder.memory);
    let macs = encoder.macs.and(Macs::per_token((d_model * vocabulary) as u64));
    let fields = vec![
        ("embedding", sinusoidal(vocabulary, d_model, positions)),
        ("encoder", encoder.node),
        ("decoder", decoder),
    ];
    let (vocabulary, tied) = (Some(vocabulary), Some(true));
    let hyperparameters = Hyperparameters { vocabulary, tied, ..encoder.hyperparameters };
    Ok((Node::Struct(START.name("transformer"), fields), Some(Cost { memory, macs }), hyperparameters))
}

const TIED: &str = <Tied as Head<TokenEmbedding<1, 1>, 1, 1>>::NAME;
const LINEAR: &str = <Linear<1, 1> as Head<TokenEmbedding<1, 1>, 1, 1>>::NAME;

/// The head of a language model and its name.
fn head(head: Option<&Expression>, of: Option<usize>, widths: [usize; 2]) -> Result<(&'static str, Node)> {
    let [d_model, vocabulary] = widths;
    match head {
        Some(head) if *head != Expression::named("Tied") => match any_linear(head)? {
            Some((node, found)) if found == widths => Ok((LINEAR, node)),
            Some(_) => wrong(format!("a head `Linear<{d_model}, {vocabulary}>` expected, found `{head}`")),
            None => Err(BlueprintError::Own(format!("{head}"))),
        },
        _ if of == Some(vocabulary) => Ok((TIED, Node::NOTHING)),
        _ => {
            let found = of.unwrap_or_default();
            wrong(format!("a tied head wants an embedding of {vocabulary} tokens, found one of {found}"))
        }
    }
}
