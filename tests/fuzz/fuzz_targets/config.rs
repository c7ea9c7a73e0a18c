//! `config.json`: any bytes, and objects with the keys that are compared.

#![no_main]

use arbitrary::Arbitrary;
use constformer::{load::*, *};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Number, Value};

type BertModel = TextEncoder<BertEmbedding<7, 6, 5>, Encoder<Bert, 2, 6, 11, 2>, 6>;
type GptModel = LanguageModel<TextEmbedding<7, 6, 5>, Encoder<Gpt2, 2, 6, 24, 2>, 6, 7>;
type LlamaModel = LanguageModel<TokenEmbedding<7, 6>, Decoder<Llama<HalfSplit>, 2, 6, 5, 3, f32, 1, 2>, 6, 7>;

const KEYS: [&str; 32] = [
    "num_hidden_layers",
    "n_layer",
    "num_layers",
    "hidden_size",
    "n_embd",
    "d_model",
    "num_attention_heads",
    "n_head",
    "num_key_value_heads",
    "vocab_size",
    "type_vocab_size",
    "intermediate_size",
    "n_inner",
    "max_position_embeddings",
    "n_positions",
    "head_dim",
    "hidden_act",
    "activation_function",
    "tie_word_embeddings",
    "is_decoder",
    "add_cross_attention",
    "scale_attn_by_inverse_layer_idx",
    "position_embedding_type",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "rms_norm_eps",
    "rope_parameters",
    "rope_theta",
    "rope_scaling",
    "rope_type",
    "type",
    "model_type",
];
const TEXTS: [&str; 12] = [
    "bert",
    "roberta",
    "camembert",
    "gpt2",
    "llama",
    "gelu",
    "gelu_new",
    "swish",
    "silu",
    "default",
    "absolute",
    "linear",
];

#[derive(Arbitrary, Debug)]
enum Json<'a> {
    Null,
    Bool(bool),
    Small(u8),
    Count(u64),
    Negative(i64),
    Real(f64),
    Known(u8),
    Text(&'a str),
    List(Vec<Json<'a>>),
    Object(Vec<(u8, Json<'a>)>),
}

impl Json<'_> {
    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(x) => (*x).into(),
            Self::Small(x) => (*x).into(),
            Self::Count(x) => (*x).into(),
            Self::Negative(x) => (*x).into(),
            Self::Real(x) => Number::from_f64(*x).map_or(Value::Null, Value::Number),
            Self::Known(i) => TEXTS[usize::from(*i) % TEXTS.len()].into(),
            Self::Text(text) => (*text).into(),
            Self::List(list) => list.iter().map(Self::value).collect(),
            Self::Object(pairs) => object(pairs),
        }
    }
}

fn object(pairs: &[(u8, Json)]) -> Value {
    let pairs = pairs.iter().map(|(key, json)| (KEYS[usize::from(*key) % KEYS.len()].into(), json.value()));
    pairs.collect::<Map<_, _>>().into()
}

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Keys(Vec<(u8, Json<'a>)>),
    Raw(&'a [u8]),
}

fn check<M: Described>(json: &[u8]) {
    match fuzz::frugal(json.len(), || check_config::<M>(json)) {
        Ok(()) => assert!(serde_json::from_slice::<Map<_, _>>(json).is_ok()),
        Err(ConfigError::Contradictions(all)) => {
            assert!(!all.is_empty() && all.iter().all(|contradiction| KEYS.contains(&&*contradiction.key)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|input: Input| {
    let json = match input {
        Input::Keys(pairs) => object(&pairs).to_string().into_bytes(),
        Input::Raw(bytes) => bytes.to_vec(),
    };
    check::<BertModel>(&json);
    check::<GptModel>(&json);
    check::<LlamaModel>(&json);
});
