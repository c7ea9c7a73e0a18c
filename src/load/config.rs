//! The `config.json` of a checkpoint against the type of a model.

use crate::hyperparameters::{Described, Hyperparameters};
use crate::rotation::Pairing;
use core::{error::Error, fmt};
use serde_json::{Map, Value};
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// A `config.json` is not that of a model.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is no JSON object.
    Malformed(String),
    /// It says what the type does not, or the other way round: all of it.
    Contradictions(Vec<Contradiction>),
}

/// What a type and a file say differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The key in the file.
    pub key: String,
    /// What the type of the model says.
    pub expected: String,
    /// What the file says.
    pub found: String,
}

/// Compares a `config.json` of Hugging Face with the type `M`: widths, layers, heads, vocabulary, positions, ε, activation,
/// rotary positions, tied heads; and, by `model_type`, where norms sit and what a token sees. What only one of the two says is
/// not compared.
///
/// # Errors
///
/// [`ConfigError`] with all contradictions.
///
/// ```
/// use constformer::{Bert, BertEmbedding, Encoder, TextEncoder, load};
///
/// type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
///
/// let config = r#"{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 12, "hidden_act": "gelu_new"}"#;
/// let error = load::check_config::<MiniLm>(config.as_bytes()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "config.json contradicts the type of the model:
///   num_hidden_layers: 6 expected, found 12
///   hidden_act: gelu expected, found gelu tanh"
/// );
/// ```
pub fn check_config<M: Described>(json: &[u8]) -> Result<(), ConfigError> {
    let config: Map<String, Value> =
        serde_json::from_slice(json).map_err(|error| ConfigError::Malformed(error.to_string()))?;
    let contradictions = contradictions(&config, &M::HYPERPARAMETERS);
    if contradictions.is_empty() { Ok(()) } else { Err(ConfigError::Contradictions(contradictions)) }
}

/// The base of rotary positions where a `config.json` does not say it.
const DEFAULT_THETA: f64 = 10_000.0;

/// [`check_config`] for a model of a type or of none.
pub(crate) fn contradictions(config: &Map<String, Value>, ours: &Hyperparameters) -> Vec<Contradiction> {
    let mut check = Check { config, contradictions: Vec::new() };
    check.all(ours);
    check.contradictions.dedup(); // one ε of two norms
    check.contradictions
}

/// Keys that are compared here and that name no size.
#[cfg(feature = "cli")]
pub(crate) const CHECKED: [&str; 9] = [
    "add_cross_attention",
    "head_dim",
    "is_decoder",
    "model_type",
    "position_embedding_type",
    "rope_parameters",
    "rope_scaling",
    "scale_attn_by_inverse_layer_idx",
    "tie_word_embeddings",
];

struct Check<'c> {
    config: &'c Map<String, Value>,
    contradictions: Vec<Contradiction>,
}

impl<'c> Check<'c> {
    fn all(&mut self, ours: &Hyperparameters) {
        let roberta = matches!(self.text("model_type"), Some("roberta" | "xlm-roberta" | "camembert"));
        self.count(&["num_hidden_layers", "n_layer", "num_layers"], ours.layers);
        self.count(&["hidden_size", "n_embd", "d_model"], ours.d_model);
        self.count(&["num_attention_heads", "n_head"], ours.heads);
        self.count(&["num_key_value_heads"], ours.kv_heads);
        self.count(&["vocab_size"], ours.vocabulary);
        self.count(&["type_vocab_size"], ours.types);
        self.count(&["intermediate_size", "n_inner"], ours.d_ff);
        // The first two of RoBERTa's are not those of tokens.
        let positions = ours.positions.map(|n| if roberta { n.saturating_add(2) } else { n });
        self.count(&["max_position_embeddings", "n_positions"], positions);
        if let (Some(d_model), Some(d_ff), Some(Value::Null)) = (ours.d_model, ours.d_ff, self.config.get("n_inner"))
            && d_ff != 4 * d_model
        {
            self.contradict("n_inner", d_ff, format!("null, which is {}", 4 * d_model));
        }
        if let (Some(d_model), Some(heads)) = (ours.d_model, ours.heads) {
            self.count(&["head_dim"], Some(d_model / heads.max(1)));
        }
        self.norms(ours);
        for key in ["hidden_act", "activation_function"] {
            for ours in [ours.activation, ours.head_activation].into_iter().flatten() {
                if let Some(theirs) = self.text(key) {
                    self.same(key, ours, activation(theirs));
                }
            }
        }
        self.rotation(ours);
        if let (Some(ours), Some(theirs)) = (ours.tied, self.config.get("tie_word_embeddings").and_then(Value::as_bool))
        {
            // A head of its own may be a copy.
            if ours && !theirs {
                self.contradict("tie_word_embeddings", ours, theirs);
            }
        }
        self.model_type(ours);
        if ours.causal == Some(false) {
            self.never("is_decoder");
        }
        self.never("add_cross_attention");
        self.never("scale_attn_by_inverse_layer_idx");
        if let Some(theirs) = self.text("position_embedding_type") {
            self.same("position_embedding_type", "absolute", theirs);
        }
    }

    fn norms(&mut self, ours: &Hyperparameters) {
        for (key, rms) in [("layer_norm_eps", false), ("layer_norm_epsilon", false), ("rms_norm_eps", true)] {
            let Some(theirs) = self.config.get(key).and_then(Value::as_f64) else { continue };
            for epsilon in [ours.epsilon, ours.embedding_epsilon, ours.head_epsilon].into_iter().flatten() {
                self.close(key, f64::from(epsilon), theirs);
            }
            if let Some(ours) = ours.rms_norm {
                let name = |rms| if rms { "RMSNorm" } else { "LayerNorm" };
                self.same(key, name(ours), name(rms));
            }
        }
    }

    fn rotation(&mut self, ours: &Hyperparameters) {
        let nested = self.config.get("rope_parameters").and_then(Value::as_object);
        let theta = self.config.get("rope_theta").or_else(|| nested?.get("rope_theta")).and_then(Value::as_f64);
        if let Some(theirs) = theta {
            match ours.theta {
                Some(ours) => self.close("rope_theta", ours, theirs),
                None => self.contradict("rope_theta", "no rotary positions", theirs),
            }
        } else if let (Some("llama"), Some(ours)) = (self.text("model_type"), ours.theta)
            && ours != DEFAULT_THETA
        {
            self.contradict("rope_theta", ours, format!("none, which is {DEFAULT_THETA}"));
        }
        let scaling = self.config.get("rope_scaling").and_then(Value::as_object);
        for parameters in [nested, scaling].into_iter().flatten() {
            let kind = parameters.get("rope_type").or_else(|| parameters.get("type")).and_then(Value::as_str);
            self.same("rope_type", "default", kind.unwrap_or("default"));
        }
    }

    /// What `model_type` implies.
    fn model_type(&mut self, ours: &Hyperparameters) {
        let Some(kind) = self.text("model_type") else { return };
        let (norm_first, causal, llama) = match kind {
            "bert" | "roberta" | "xlm-roberta" | "camembert" => (false, false, false),
            "gpt2" => (true, true, false),
            "llama" => (true, true, true),
            _ => return,
        };
        let mut say = |ours: Option<bool>, theirs, names: [&str; 2]| {
            if let Some(ours) = ours {
                let name = |x| names[usize::from(x)];
                self.same("model_type", name(ours), &format!("{kind}, which is {}", name(theirs)));
            }
        };
        say(ours.norm_first.filter(|ours| *ours != norm_first), norm_first, ["Post-LN", "Pre-LN"]);
        say(ours.causal.filter(|ours| *ours != causal), causal, ["bidirectional", "causal"]);
        say(ours.gated.filter(|ours| *ours != llama), llama, ["not gated", "gated"]);
        if ours.layers.is_some() {
            let half_split = ours.pairing.map(|pairing| pairing == Pairing::HalfSplit);
            match (llama, half_split) {
                (true, Some(true)) | (false, None) => {}
                (true, _) => self.contradict("model_type", "other positions", format!("{kind}, which is `HalfSplit`")),
                (false, Some(_)) => {
                    self.contradict("model_type", "rotary positions", format!("{kind}, which has none"));
                }
            }
        }
    }

    /// What is not so in any model of this library that is compared.
    fn never(&mut self, key: &str) {
        if self.config.get(key).and_then(Value::as_bool) == Some(true) {
            self.contradict(key, false, true);
        }
    }

    fn text(&self, key: &str) -> Option<&'c str> {
        self.config.get(key).and_then(Value::as_str)
    }

    /// A number under any of the keys.
    fn count(&mut self, keys: &[&str], ours: Option<usize>) {
        for key in keys {
            if let (Some(ours), Some(theirs)) = (ours, self.config.get(*key))
                && !theirs.is_null()
                && theirs.as_u64() != Some(ours as u64)
            {
                self.contradict(key, ours, theirs);
            }
        }
    }

    fn close(&mut self, key: &str, ours: f64, theirs: f64) {
        if (ours - theirs).abs() > 1e-5 * ours.abs() {
            self.contradict(key, format!("{:?}", ours as f32), format!("{:?}", theirs as f32));
        }
    }

    fn same(&mut self, key: &str, ours: &str, theirs: &str) {
        if ours != theirs {
            self.contradict(key, ours, theirs);
        }
    }

    fn contradict(&mut self, key: &str, expected: impl fmt::Display, found: impl fmt::Display) {
        let (expected, found) = (expected.to_string(), found.to_string());
        self.contradictions.push(Contradiction { key: key.into(), expected, found });
    }
}

/// The name of an activation here of one there.
pub(crate) fn activation(theirs: &str) -> &str {
    match theirs {
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => "gelu tanh",
        "swish" => "silu",
        other => other,
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => write!(f, "config.json is no JSON object: {text}"),
            Self::Contradictions(all) => {
                f.write_str("config.json contradicts the type of the model:")?;
                all.iter().try_for_each(|contradiction| write!(f, "\n  {contradiction}"))
            }
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} expected, found {}", self.key, self.expected, self.found)
    }
}

impl Error for ConfigError {}
