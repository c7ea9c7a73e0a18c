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
/// rotary positions, tied heads; and, by `model_type` (bert, roberta, xlm-roberta, camembert, gpt2,
/// llama; others are refused), where norms sit, what a token sees, and what is meant where nothing is said of ε, activation and θ. What
/// only one of the two says is not compared otherwise.
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
    let mut contradictions = contradictions(&config, &M::HYPERPARAMETERS);
    if let Some(kind) = config.get("model_type").and_then(Value::as_str)
        && defaults(kind).is_none()
    {
        let expected = "bert, roberta, xlm-roberta, camembert, gpt2 or llama".into();
        contradictions.push(Contradiction { key: "model_type".into(), expected, found: kind.into() });
    }
    if contradictions.is_empty() { Ok(()) } else { Err(ConfigError::Contradictions(contradictions)) }
}

/// What a `config.json` means where it says nothing.
struct Defaults {
    epsilon: (&'static str, f64),
    activation: (&'static str, &'static str),
    theta: Option<f64>,
}

/// Those of a `model_type` that is compared.
fn defaults(kind: &str) -> Option<Defaults> {
    let (epsilon, activation, theta) = match kind {
        "bert" | "roberta" | "xlm-roberta" | "camembert" => (("layer_norm_eps", 1e-12), ("hidden_act", "gelu"), None),
        "gpt2" => (("layer_norm_epsilon", 1e-5), ("activation_function", "gelu_new"), None),
        "llama" => (("rms_norm_eps", 1e-6), ("hidden_act", "silu"), Some(10_000.0)),
        _ => return None,
    };
    Some(Defaults { epsilon, activation, theta })
}

/// [`check_config`] for a model of a type or of none.
pub(crate) fn contradictions(config: &Map<String, Value>, ours: &Hyperparameters) -> Vec<Contradiction> {
    let mut check = Check { config, contradictions: Vec::new() };
    check.all(ours);
    check.contradictions.dedup(); // one ε of two norms
    check.contradictions
}

/// Keys that are compared here and that name no size.
#[cfg(feature = "cli")]
pub(crate) const CHECKED: [&str; 11] = [
    "add_cross_attention",
    "head_dim",
    "is_decoder",
    "model_type",
    "position_embedding_type",
    "rope_parameters",
    "rope_scaling",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "sliding_window",
    "tie_word_embeddings",
];

struct Check<'c> {
    config: &'c Map<String, Value>,
    contradictions: Vec<Contradiction>,
}

impl<'c> Check<'c> {
    fn all(&mut self, ours: &Hyperparameters) {
        let kind = self.text("model_type");
        let roberta = matches!(kind, Some("roberta" | "xlm-roberta" | "camembert"));
        let defaults = kind.and_then(defaults);
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
        self.norms(ours, defaults.as_ref());
        self.activations(ours, defaults.as_ref());
        self.rotation(ours, defaults.as_ref());
        // A head of its own may be a copy.
        if let (Some(true), Some(false)) = (ours.tied, self.flag("tie_word_embeddings")) {
            self.contradict("tie_word_embeddings", true, false);
        }
        if let Some(kind) = kind {
            self.model_type(kind, ours);
        }
        if ours.causal == Some(false) {
            self.never("is_decoder");
        }
        self.never("add_cross_attention");
        self.never("scale_attn_by_inverse_layer_idx");
        if self.flag("scale_attn_weights") == Some(false) {
            self.contradict("scale_attn_weights", true, false);
        }
        if let Some(theirs) = self.value("sliding_window") {
            self.contradict("sliding_window", "none", theirs);
        }
        if let Some(theirs) = self.text("position_embedding_type") {
            self.same("position_embedding_type", "absolute", theirs);
        }
    }

    fn norms(&mut self, ours: &Hyperparameters, defaults: Option<&Defaults>) {
        let all = [ours.epsilon, ours.embedding_epsilon, ours.head_epsilon];
        for (key, rms) in [("layer_norm_eps", false), ("layer_norm_epsilon", false), ("rms_norm_eps", true)] {
            let default = defaults.map(|defaults| defaults.epsilon).filter(|(name, _)| *name == key);
            match (self.number(key), default) {
                (Some(theirs), _) => {
                    all.iter().flatten().for_each(|ours| self.close(key, f64::from(*ours), theirs));
                    if let Some(ours) = ours.rms_norm {
                        let name = |rms| if rms { "RMSNorm" } else { "LayerNorm" };
                        self.same(key, name(ours), name(rms));
                    }
                }
                (None, Some((_, default))) if !self.config.contains_key(key) => {
                    for ours in all.iter().flatten().filter(|ours| !is_close(f64::from(**ours), default)) {
                        self.contradict(key, format!("{ours:?}"), format!("none, which is {:?}", default as f32));
                    }
                }
                _ => {}
            }
        }
    }

    fn activations(&mut self, ours: &Hyperparameters, defaults: Option<&Defaults>) {
        for key in ["hidden_act", "activation_function"] {
            let default = defaults.map(|defaults| defaults.activation).filter(|(name, _)| *name == key);
            let theirs = self.text(key);
            for ours in [ours.activation, ours.head_activation].into_iter().flatten() {
                match (theirs, default) {
                    (Some(theirs), _) => self.same(key, ours, activation(theirs)),
                    (None, Some((_, default))) if !self.config.contains_key(key) && ours != activation(default) => {
                        self.contradict(key, ours, format!("none, which is {}", activation(default)));
                    }
                    _ => {}
                }
            }
        }
    }

    fn rotation(&mut self, ours: &Hyperparameters, defaults: Option<&Defaults>) {
        let nested = self.object("rope_parameters");
        let scaling = self.object("rope_scaling");
        let theta = self.value("rope_theta").or_else(|| nested?.get("rope_theta").filter(|theta| !theta.is_null()));
        match (theta.map(Value::as_f64), ours.theta, defaults.and_then(|defaults| defaults.theta)) {
            (Some(Some(theirs)), Some(ours), _) => self.close("rope_theta", ours, theirs),
            (Some(_), ours, _) => {
                let expected = ours.map_or_else(|| "no rotary positions".into(), |ours| format!("{ours}"));
                self.contradict("rope_theta", expected, theta.unwrap_or(&Value::Null));
            }
            (None, Some(ours), Some(default)) if !is_close(ours, default) => {
                self.contradict("rope_theta", ours, format!("none, which is {default}"));
            }
            _ => {}
        }
        for (parameters, default) in [(nested, "default"), (scaling, "none")] {
            let Some(parameters) = parameters else { continue };
            let kind = parameters.get("rope_type").or_else(|| parameters.get("type"));
            match kind {
                None => self.same("rope_type", "default", default),
                Some(Value::String(kind)) => self.same("rope_type", "default", kind),
                Some(kind) => self.contradict("rope_type", "default", kind),
            }
        }
    }

    /// What `model_type` implies.
    fn model_type(&mut self, kind: &str, ours: &Hyperparameters) {
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
        if self.flag(key) == Some(true) {
            self.contradict(key, false, true);
        }
    }

    /// What the file says, if it says something.
    fn value(&self, key: &str) -> Option<&'c Value> {
        self.config.get(key).filter(|value| !value.is_null())
    }

    fn text(&mut self, key: &str) -> Option<&'c str> {
        self.of_kind(key, "a text", Value::as_str)
    }

    fn number(&mut self, key: &str) -> Option<f64> {
        self.of_kind(key, "a number", Value::as_f64)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        self.of_kind(key, "true or false", Value::as_bool)
    }

    fn object(&mut self, key: &str) -> Option<&'c Map<String, Value>> {
        self.of_kind(key, "an object", Value::as_object)
    }

    /// What the file says, which must be of a kind.
    fn of_kind<T>(&mut self, key: &str, expected: &str, read: impl Fn(&'c Value) -> Option<T>) -> Option<T> {
        let value = self.value(key)?;
        let found = read(value);
        if found.is_none() {
            self.contradict(key, expected, value);
        }
        found
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
        if !is_close(ours, theirs) {
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

/// But for the rounding of `f32`.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs()
}

/// The name of an activation here of one there.
pub(crate) fn activation(theirs: &str) -> &str {
    match theirs {
        "gelu_python" => "gelu",
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_python_tanh" | "gelu_accurate" | "gelu_fast" => "gelu tanh",
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
