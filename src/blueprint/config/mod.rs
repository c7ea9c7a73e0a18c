//! From a `config.json` to the type of a model.

mod hugging_face;
mod keys;
mod others;
mod torch;

pub(crate) use others::of_llama2c;

use super::{Blueprint, BlueprintError, Expression, Model};
use crate::load::{Checkpoint, ConfigError, Contradiction, LoadError, Scheme, config_contradictions};
use core::{error::Error, fmt};
use keys::Keys;
use serde_json::{Map, Value};
use std::{
    string::{String, ToString},
    vec::Vec,
};

/// How a checkpoint is loaded.
pub(crate) type Fill = fn(&Checkpoint<'_>, &mut Model<'_>) -> Result<(), LoadError>;

/// What a `config.json` says.
pub(crate) struct Config {
    pub(crate) blueprint: Blueprint,
    pub(crate) fill: Fill,
    /// Keys that nobody has looked at.
    pub(crate) unread: Vec<String>,
}

/// The type of a model, and how its checkpoint is loaded.
struct Design {
    model: Expression,
    fill: Fill,
}

impl Design {
    fn new<S: Scheme>(model: Expression) -> Self {
        Self { model, fill: |checkpoint, model| checkpoint.fill::<S>(model) }
    }
}

/// The kinds of `config.json`, by `model_type`.
const KINDS: [(&str, fn(&mut Keys<'_>) -> Design); 12] = [
    ("bert", hugging_face::bert),
    ("camembert", hugging_face::roberta),
    ("gpt2", hugging_face::gpt2),
    ("kwt", others::kwt),
    ("llama", hugging_face::llama),
    ("mingpt", others::min_gpt),
    ("nanogpt", others::nano_gpt),
    ("roberta", hugging_face::roberta),
    ("torch_transformer", torch::transformer),
    ("torch_transformer_decoder", torch::decoder),
    ("torch_transformer_encoder", torch::encoder),
    ("xlm-roberta", hugging_face::roberta),
];

impl Config {
    /// Reads the `config.json` of a checkpoint: a head may be there or not. `pooling` is the `1_Pooling/config.json` that
    /// sentence-transformers has beside it.
    pub(crate) fn read(json: &[u8], pooling: Option<&[u8]>, checkpoint: &Checkpoint<'_>) -> Result<Self, UnknownModel> {
        let object = |json: &[u8]| {
            let malformed = |error: serde_json::Error| UnknownModel::Config(ConfigError::Malformed(error.to_string()));
            serde_json::from_slice::<Map<String, Value>>(json).map_err(malformed)
        };
        let config = object(json)?;
        let has_head = checkpoint.tensors().any(|(name, _)| name.ends_with("lm_head.weight"));
        let mut keys = Keys::new(&config, has_head);
        let kind = keys.text("model_type", "");
        let Some((_, design)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            keys.refuse("model_type", &names.join(", "));
            return Err(UnknownModel::Keys(keys.problems));
        };
        let Design { mut model, fill } = design(&mut keys);
        if let (Some(json), Expression::Type(name, arguments)) = (pooling, &mut model)
            && name == "TextEncoder"
        {
            arguments.extend(hugging_face::pooling(&object(json)?, &mut keys));
        }
        if !keys.problems.is_empty() {
            return Err(UnknownModel::Keys(keys.problems));
        }
        let blueprint = Blueprint::of(&model).map_err(UnknownModel::Type)?;
        let contradictions = config_contradictions(&config, blueprint.hyperparameters());
        if !contradictions.is_empty() {
            return Err(UnknownModel::Keys(contradictions));
        }
        Ok(Self { blueprint, fill, unread: keys.unread() })
    }
}

/// No type of this library is the model of a `config.json`.
#[derive(Debug)]
pub(crate) enum UnknownModel {
    /// The file is none.
    Config(ConfigError),
    /// The file says what no type says: all of it.
    Keys(Vec<Contradiction>),
    /// rustc would refuse the type.
    Type(BlueprintError),
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Type(error) => write!(f, "no type can be what config.json says: {error}"),
            Self::Keys(all) => {
                f.write_str("no type of this library is what config.json says:")?;
                all.iter().try_for_each(|contradiction| write!(f, "\n  {contradiction}"))
            }
        }
    }
}

impl Error for UnknownModel {}
