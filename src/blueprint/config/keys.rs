//! The keys of a `config.json`: which were read, and what is wrong with them.

use crate::{
    Activation, Gelu, GeluTanh, Relu, Silu,
    load::{CHECKED, Contradiction, activation},
};
use serde_json::{Map, Value};
use std::{
    collections::BTreeSet,
    string::{String, ToString},
    vec::Vec,
};

pub(super) struct Keys<'c> {
    config: &'c Map<String, Value>,
    read: BTreeSet<&'static str>,
    /// Whether the checkpoint has a head of its own.
    pub(super) has_head: bool,
    pub(super) problems: Vec<Contradiction>,
}

/// What does not change what a model computes from its weights: names, or the ends of names.
const HARMLESS: [&str; 34] = [
    "_name_or_path",
    "_token_id",
    "architectures",
    "batch_first",
    "block_size",
    "bos_token",
    "chunk_size_feed_forward",
    "classifier_activation",
    "directionality",
    "dropout",
    "dropout_prob",
    "dtype",
    "eos_token",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "initializer_factor",
    "initializer_range",
    "label2id",
    "language",
    "max_length",
    "max_position_embeddings", // those of rotary positions are not in the type
    "n_ctx",
    "name",
    "num_labels",
    "output_past",
    "pdrop",
    "pretraining_tp", // the same products in parts
    "problem_type",
    "reorder_and_upcast_attn", // the same products in more digits
    "task_specific_params",
    "torch_dtype",
    "transformers_version",
    "use_cache",
];

impl<'c> Keys<'c> {
    pub(super) fn new(config: &'c Map<String, Value>, has_head: bool) -> Self {
        Self { config, read: BTreeSet::new(), has_head, problems: Vec::new() }
    }

    pub(super) fn get(&mut self, key: &'static str) -> Option<&'c Value> {
        self.read.insert(key);
        self.config.get(key).filter(|value| !value.is_null())
    }

    /// What is under `key` cannot be; `expected` can.
    pub(super) fn refuse(&mut self, key: &str, expected: &str) {
        let found = self.config.get(key).map_or_else(|| "nothing".into(), ToString::to_string);
        let problem = Contradiction { key: key.into(), expected: expected.into(), found };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn number_if(&mut self, key: &'static str) -> Option<usize> {
        let number = self.get(key)?.as_u64().filter(|n| (1..1 << 32).contains(n));
        if number.is_none() {
            self.refuse(key, "a number above 0");
        }
        number.map(|n| n as usize)
    }

    pub(super) fn number(&mut self, key: &'static str) -> usize {
        let there = self.get(key).is_some();
        self.number_if(key).unwrap_or_else(|| {
            if !there {
                self.refuse(key, "a number above 0");
            }
            1
        })
    }

    pub(super) fn text(&mut self, key: &'static str, default: &'static str) -> &'c str {
        match self.get(key) {
            None => default,
            Some(Value::String(text)) => text,
            Some(_) => {
                self.refuse(key, "a text");
                default
            }
        }
    }

    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        match self.get(key) {
            None => default,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.refuse(key, "true or false");
                default
            }
        }
    }

    /// What is so in all models of the kind.
    pub(super) fn only(&mut self, key: &'static str, expected: bool) {
        if self.flag(key, expected) != expected {
            self.refuse(key, &expected.to_string());
        }
    }

    /// The E of ε = 10⁻ᴱ.
    pub(super) fn exponent(&mut self, key: &'static str, default: u64) -> u64 {
        let Some(value) = self.get(key) else { return default };
        let epsilon = value.as_f64().unwrap_or_default();
        let exponent = -epsilon.log10().round();
        let power = (0.0..=16.0).contains(&exponent) && (epsilon / 10f64.powf(-exponent) - 1.0).abs() < 1e-5;
        if !power {
            self.refuse(key, "a power of ten, 1e-16 to 1");
        }
        if power { exponent as u64 } else { default }
    }

    /// An activation by its name in [`Activation`].
    pub(super) fn activation(&mut self, key: &'static str, default: &'static str) -> &'static str {
        let theirs = activation(self.text(key, default));
        let known = [Relu::NAME, Gelu::NAME, GeluTanh::NAME, Silu::NAME].into_iter().find(|ours| *ours == theirs);
        if known.is_none() {
            self.refuse(key, "relu, gelu, gelu_new or silu");
        }
        known.unwrap_or(Gelu::NAME)
    }

    /// The keys that nobody has looked at and that may matter.
    pub(super) fn unread(&self) -> Vec<String> {
        let is_known = |key: &str| {
            self.read.contains(key)
                || CHECKED.contains(&key)
                || key.starts_with("summary_")
                || key.starts_with("pooler_")
                || HARMLESS.iter().any(|end| key.ends_with(end))
        };
        self.config.keys().filter(|key| !is_known(key)).cloned().collect()
    }
}
