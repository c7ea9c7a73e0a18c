//! Embeddings.

use super::{
    BlueprintError, Expression,
    arguments::{Arguments, Result},
    family::{EXPONENT, NormKind},
    layers::{linear, norm},
    node::{Node, START},
};
use crate::{Hyperparameters, cost::Macs, norm::epsilon_of};
use std::{format, vec};

/// An [`Embedding`](crate::Embedding). Its width, vocabulary and positions are among its hyperparameters.
pub(super) struct Embedding {
    pub(super) node: Node,
    pub(super) macs: Macs,
    pub(super) hyperparameters: Hyperparameters,
}

pub(super) const NAMES: [&str; 5] =
    ["TokenEmbedding", "TextEmbedding", "SinusoidalEmbedding", "BertEmbedding", "PatchEmbedding"];

/// Those that are [`Incremental`](crate::Incremental).
pub(super) const INCREMENTAL: [&str; 3] = ["TokenEmbedding", "TextEmbedding", "SinusoidalEmbedding"];

/// A [`SinusoidalEmbedding`](crate::SinusoidalEmbedding).
pub(super) fn sinusoidal(vocabulary: usize, d_model: usize, positions: usize) -> Node {
    let start = START.name("sinusoidal embedding").number(positions);
    Node::Struct(start, vec![("tokens", tokens(vocabulary, d_model))])
}

fn tokens(vocabulary: usize, d_model: usize) -> Node {
    Node::Struct(START.name("token embedding"), vec![("weight", Node::Table(vocabulary, d_model))])
}

fn learned(positions: usize, d_model: usize) -> Node {
    Node::Struct(START.name("learned positions"), vec![("weight", Node::Table(positions, d_model))])
}

pub(super) fn embedding(expression: &Expression) -> Result<Embedding> {
    let own = || BlueprintError::Own(format!("{expression}"));
    let Expression::Type(name, arguments) = expression else { return Err(own()) };
    let mut arguments = Arguments::new(name, arguments);
    if !NAMES.contains(&name.as_str()) {
        return Err(own());
    }
    let first = arguments.number(if name == "PatchEmbedding" { "FEATURES" } else { "VOCABULARY" })?;
    let d_model = arguments.number("D_MODEL")?;
    let of_text = Hyperparameters { vocabulary: Some(first), d_model: Some(d_model), ..Hyperparameters::NONE };
    let none = Macs::once(0);
    let (node, macs, hyperparameters) = match name.as_str() {
        "TokenEmbedding" => (tokens(first, d_model), none, of_text),
        "TextEmbedding" => {
            let positions = arguments.number("POSITIONS")?;
            let fields = vec![("tokens", tokens(first, d_model)), ("positions", learned(positions, d_model))];
            let node = Node::Struct(START.name("text embedding"), fields);
            (node, none, Hyperparameters { positions: Some(positions), ..of_text })
        }
        "SinusoidalEmbedding" => (sinusoidal(first, d_model, arguments.number("POSITIONS")?), none, of_text),
        "BertEmbedding" => {
            let (positions, types) = (arguments.number("POSITIONS")?, arguments.number_or("TYPES", 2)?);
            let exponent = arguments.unsigned_or("E", 12, EXPONENT)?;
            let fields = vec![
                ("tokens", tokens(first, d_model)),
                ("positions", learned(positions, d_model)),
                ("types", Node::Table(types, d_model)),
                ("norm", norm(NormKind::Layer { exponent, bias: true }, d_model)),
            ];
            let hyperparameters = Hyperparameters {
                positions: Some(positions),
                types: Some(types),
                embedding_epsilon: Some(epsilon_of(exponent as u32)),
                ..of_text
            };
            (Node::Struct(START.name("bert embedding"), fields), none, hyperparameters)
        }
        _ => {
            let positions = arguments.number("POSITIONS")?;
            let format = arguments.format()?;
            let fields = vec![
                ("projection", linear(format, first, d_model, true)),
                ("class_token", Node::Vector(d_model)),
                ("positions", learned(positions, d_model)),
            ];
            let node = Node::Struct(START.name("patch embedding"), fields);
            let hyperparameters =
                Hyperparameters { d_model: Some(d_model), positions: Some(positions), ..Hyperparameters::NONE };
            (node, Macs::per_token_but_first((first * d_model) as u64), hyperparameters)
        }
    };
    arguments.end()?;
    Ok(Embedding { node, macs, hyperparameters })
}
