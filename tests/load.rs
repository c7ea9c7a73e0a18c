//! Checkpoints: real ones give the outputs of those who wrote them, and those that do not fit give every reason at once.

mod common;

use common::golden::{Golden, Values};
use constformer::{load::*, typenum::U5, *};
use safetensors::{Dtype, tensor::TensorView};
use std::{collections::BTreeMap, fs, path::PathBuf};

common::families! {
    Roberta: PostLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final NoNorm;
    PostRelu: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    PreGelu: PreLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    PostGeluNorm: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    Unbiased: PreLn, LayerNorm<D_MODEL, U5, NoBias>, Bidirectional, NoBias, FeedForward<D_MODEL, D_FF, Gelu, T, NoBias>,
        final NoNorm;
}

// --- files -----------------------------------------------------------------------------------------------------------

/// The bytes of numbers of a type.
fn bytes(dtype: Dtype, numbers: &[f64]) -> Vec<u8> {
    match dtype {
        Dtype::F64 => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Dtype::F32 => numbers.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect(),
        Dtype::I32 => numbers.iter().flat_map(|x| (*x as i32).to_le_bytes()).collect(),
        // The upper half, and the fields of the two moved; of normal numbers that have no more digits.
        Dtype::BF16 => {
            numbers.iter().flat_map(|x| ((*x as f32).to_bits().wrapping_shr(16) as u16).to_le_bytes()).collect()
        }
        Dtype::F16 => numbers.iter().flat_map(|x| half_bits(*x as f32).to_le_bytes()).collect(),
        other => panic!("{other:?}"),
    }
}

fn half_bits(x: f32) -> u16 {
    let (bits, sign) = (x.to_bits(), (x.to_bits() >> 16 & 0x8000) as u16);
    match bits & 0x7fff_ffff {
        0 => sign,
        0x7f80_0000.. => sign | 0x7c00 | u16::from(x.is_nan()),
        rest => sign | ((rest - (112 << 23)) >> 13) as u16,
    }
}

/// A safetensors file.
fn file_of(dtype: Dtype, tensors: &BTreeMap<String, Values>) -> Vec<u8> {
    let stored: Vec<_> = tensors.iter().map(|(name, values)| (name, bytes(dtype, &values.numbers), values)).collect();
    let views = stored
        .iter()
        .map(|(name, bytes, values)| (name.as_str(), TensorView::new(dtype, values.shape.clone(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

fn checkpoint(tensors: &BTreeMap<String, Values>) -> Checkpoint<'static> {
    Checkpoint::from_bytes(file_of(Dtype::F32, tensors)).unwrap()
}

fn small(tensors: &[(&str, &[usize], &[f64])]) -> BTreeMap<String, Values> {
    let values = |shape: &[usize], numbers: &[f64]| Values { shape: shape.to_vec(), numbers: numbers.to_vec() };
    tensors.iter().map(|(name, shape, numbers)| ((*name).to_string(), values(shape, numbers))).collect()
}

/// A safetensors file with this header.
fn raw(header: &str, data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; data]].concat()
}

fn numbers(model: &impl Parameters) -> Vec<(String, Vec<u32>)> {
    let mut all = vec![];
    model.for_each_tensor(|name, t| all.push((name.to_string(), t.stored().iter().map(|x| x.to_bits()).collect())));
    all
}

fn faults(result: Result<(), LoadError>) -> Vec<Fault> {
    match result.unwrap_err() {
        LoadError::Tensors { faults, .. } => faults,
        other => panic!("{other}"),
    }
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("constformer-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.0.join(file), bytes).unwrap();
        self.0.join(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

// --- real checkpoints ------------------------------------------------------------------------------------------------

/// The tensors of a case, its inputs and its outputs.
fn case(name: &str, output: &str) -> (Golden, Vec<(Vec<u32>, Values)>) {
    let mut case = Golden::open("transformers_models.safetensors").part(&format!("{name}."));
    let (inputs, mut outputs) = (case.part("input."), case.part(output));
    let pairs = inputs.tensors.into_iter().map(|(k, ids)| {
        let ids = ids.numbers.iter().map(|id| *id as u32).collect();
        (ids, outputs.take(&k))
    });
    let pairs: Vec<_> = pairs.collect();
    assert!(pairs.len() >= 3 && outputs.tensors.is_empty());
    (case, pairs)
}

/// The last hidden states of a text encoder; the largest error.
fn check_hidden<M: Parameters>(
    name: &str,
    model: &M,
    cases: Vec<(Vec<u32>, Values)>,
    mut run: impl FnMut(&M, &[u32]) -> Vec<f32>,
) {
    for (ids, expected) in cases {
        let found = run(model, &ids);
        let error = common::max_error(&found, expected.numbers);
        println!("{name}, {} tokens: max error {error:.1e}", ids.len());
        assert!(error < 2e-5);
    }
}

#[test]
fn bert() {
    type Model = TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>;

    let (weights, cases) = case("bert", "hidden.");
    assert!(weights.tensors.contains_key("pooler.dense.weight"), "which is left over");
    let mut model = boxed::<Model>();
    checkpoint(&weights.tensors).load::<HuggingFaceBert>(&mut *model).unwrap();
    let mut memory = boxed::<Memory<Model, 17>>();
    check_hidden("bert", &*model, cases, |model, ids| model.hidden(ids, &mut memory).unwrap().as_flattened().to_vec());

    // The mean of the hidden states is the vector of the text.
    let hidden = model.hidden(&[5, 6, 7], &mut memory).unwrap().to_vec();
    let mean: Vec<f64> = (0..22).map(|i| hidden.iter().map(|x| f64::from(x[i])).sum::<f64>() / 3.0).collect();
    assert!(common::max_error(&model.forward(&[5, 6, 7], &mut memory).unwrap(), mean) < 1e-6);
}

/// With the prefix `bert.` and the heads of the pre-training, and with the names of norms that old files have.
#[test]
fn bert_of_another_purpose() {
    type Model = TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>;

    let (weights, _) = case("bert_mlm", "logits.");
    let (mut model, mut old) = (boxed::<Model>(), boxed::<Model>());
    checkpoint(&weights.tensors).load::<HuggingFaceBert>(&mut *model).unwrap();

    let rename =
        |name: &str| name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
    let renamed = weights.tensors.iter().map(|(name, values)| (rename(name), values.clone())).collect();
    checkpoint(&renamed).load::<HuggingFaceBert>(&mut *old).unwrap();
    assert!(numbers(&*model) == numbers(&*old) && numbers(&*model) != numbers(&*boxed::<Model>()));
}

/// 19 positions, of which the first two are not those of tokens.
#[test]
fn roberta() {
    type Model = TextEncoder<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Roberta, 2, 21, 35, 3>, 21>;

    let (weights, cases) = case("roberta", "hidden.");
    let mut model = boxed::<Model>();
    checkpoint(&weights.tensors).load::<HuggingFaceRoberta>(&mut *model).unwrap();
    let mut memory = boxed::<Memory<Model, 17>>();
    check_hidden("roberta", &*model, cases, |model, ids| {
        model.hidden(ids, &mut memory).unwrap().as_flattened().to_vec()
    });
}

/// The logits of every position of a language model.
macro_rules! check_logits {
    ($name:literal, $scheme:ty, $model:ty, $len:literal) => {{
        let (weights, cases) = case($name, "logits.");
        let mut model = boxed::<$model>();
        checkpoint(&weights.tensors).load::<$scheme>(&mut *model).unwrap();
        let mut memory = boxed::<Memory<$model, $len>>();
        check_hidden($name, &*model, cases, |model, ids| {
            let mut last = [0.0; 53];
            model.forward(ids, &mut memory, &mut last).unwrap();
            let mut all = vec![];
            for token in memory.stream.tokens() {
                let mut logits = [0.0; 53];
                model.logits(token, &mut logits);
                all.extend(logits);
            }
            assert!(all.ends_with(&last));
            all
        });
        (weights, model)
    }};
}

type TinyGpt2 = LanguageModel<TextEmbedding<53, 21, 17>, Encoder<Gpt2, 2, 21, 84, 3>, 21, 53>;

#[test]
fn gpt2() {
    type Grouped = LanguageModel<TextEmbedding<53, 21, 17>, Decoder<Gpt2, 2, 21, 84, 3>, 21, 53>;

    let (mut weights, encoder) = check_logits!("gpt2", HuggingFaceGpt2, TinyGpt2, 17);
    let (_, decoder) = check_logits!("gpt2", HuggingFaceGpt2, Grouped, 17);
    assert_eq!(numbers(&*encoder), numbers(&*decoder));

    // Buffers of old files are left over, and so is the prefix.
    let mask = Values { shape: vec![1, 1, 2, 2], numbers: vec![f64::NAN; 4] };
    weights.tensors.insert("transformer.h.0.attn.bias".into(), mask.clone());
    weights.tensors.insert("transformer.h.0.attn.masked_bias".into(), mask);
    let bare =
        weights.tensors.iter().map(|(name, values)| (name.replace("transformer.", ""), values.clone())).collect();
    for tensors in [&weights.tensors, &bare] {
        let mut model = boxed::<TinyGpt2>();
        checkpoint(tensors).load::<HuggingFaceGpt2>(&mut *model).unwrap();
        assert_eq!(numbers(&*model), numbers(&*encoder));
    }

    // The same matrices as `nn.Linear` has them: wrong shapes where they are not square, and more is not to be seen.
    let errors = faults(checkpoint(&weights.tensors).load::<NanoGpt>(&mut *boxed::<TinyGpt2>()));
    assert_eq!(errors.len(), 2 * 5, "query, key, value, inner, outer of two blocks");
    assert!(errors.iter().all(|fault| fault.to_string().ends_with(", which is transposed")));
}

#[test]
fn nano_gpt() {
    let (weights, _) = case("gpt2", "logits.");
    let mut expected = boxed::<TinyGpt2>();
    checkpoint(&weights.tensors).load::<HuggingFaceGpt2>(&mut *expected).unwrap();
    // What nanoGPT would have written: compiled, `[out, in]`, and the head once more.
    let mut theirs = BTreeMap::new();
    for (name, mut values) in weights.tensors {
        if let [rows, columns] = values.shape[..]
            && name.contains(".h.")
        {
            values.numbers = (0..rows * columns).map(|i| values.numbers[i % rows * columns + i / rows]).collect();
            values.shape.reverse();
        }
        theirs.insert(format!("_orig_mod.{name}"), values);
    }
    let table = theirs["_orig_mod.transformer.wte.weight"].clone();
    theirs.insert("_orig_mod.lm_head.weight".into(), table);
    let mut model = boxed::<TinyGpt2>();
    checkpoint(&theirs).load::<NanoGpt>(&mut *model).unwrap();
    assert_eq!(numbers(&*model), numbers(&*expected));

    // A head that is another matrix cannot be dropped.
    theirs.get_mut("_orig_mod.lm_head.weight").unwrap().numbers[7] += 1.0;
    let errors = faults(checkpoint(&theirs).load::<NanoGpt>(&mut *boxed::<TinyGpt2>()));
    assert_eq!(
        errors,
        [Fault::NotTied {
            head: "_orig_mod.lm_head.weight".into(),
            embedding: "_orig_mod.transformer.wte.weight".into()
        }]
    );
}

#[test]
fn llama() {
    type Blocks<E> = Decoder<Llama<HalfSplit, E>, 2, 24, 37, 6, f32, 2, 8>;
    type Untied = LanguageModel<TokenEmbedding<53, 24>, Blocks<U5>, 24, 53, Linear<24, 53, f32, NoBias>>;
    type OfTable<H> = LanguageModel<TokenEmbedding<53, 24>, Blocks<typenum::U6>, 24, 53, H>;

    let (mut weights, _) = check_logits!("llama", HuggingFaceLlama, Untied, 31);
    // A model whose head is its table, and one whose head becomes a copy of it.
    check_logits!("llama_tied", HuggingFaceLlama, OfTable<Tied>, 31);
    check_logits!("llama_tied", HuggingFaceLlama, OfTable<Linear<24, 53, f32, NoBias>>, 31);

    let frequencies = Values { shape: vec![2], numbers: vec![1.0, 0.01] };
    weights.tensors.insert("model.layers.0.self_attn.rotary_emb.inv_freq".into(), frequencies);
    checkpoint(&weights.tensors).load::<HuggingFaceLlama>(&mut *boxed::<Untied>()).unwrap();
}

/// As the loader of the tests has it; that its outputs are PyTorch's is tested there.
#[test]
fn torch_encoders() {
    fn check<M: Parameters>(name: &str) {
        let mut case = Golden::open("torch_encoder.safetensors").part(&format!("{name}."));
        case.part("input.");
        case.part("output.");
        let (mut ours, mut theirs) = (boxed::<M>(), boxed::<M>());
        checkpoint(&case.tensors).load::<TorchEncoder>(&mut *ours).unwrap();
        case.from_torch().load(&mut *theirs).unwrap();
        assert_eq!(numbers(&*ours), numbers(&*theirs));
    }
    check::<Encoder<PostRelu, 1, 21, 35, 3>>("post_relu");
    check::<Encoder<PreGelu, 2, 21, 35, 3>>("pre_gelu");
    check::<Encoder<Unbiased, 2, 13, 29, 1>>("no_bias");

    // A layer on its own.
    let mut case = Golden::open("torch_encoder.safetensors").part("post_relu.");
    let mut stack = boxed::<Encoder<PostRelu, 1, 21, 35, 3>>();
    let mut block = boxed::<EncoderBlock<PostRelu, 21, 35, 3>>();
    case.part("input.");
    case.part("output.");
    let checkpoint = checkpoint(&case.tensors);
    checkpoint.load::<TorchEncoder>(&mut *stack).unwrap();
    checkpoint.part("layers.0.").load::<TorchEncoder>(&mut *block).unwrap();
    assert_eq!(numbers(&*block), numbers(&stack.blocks[0]));
}

model! {
    /// `nn.Transformer`.
    struct Translator {
        encoder: Encoder<PostGeluNorm, 2, 21, 35, 3>,
        decoder: CrossDecoder<PostGeluNorm, 2, 21, 35, 3>,
    }
}

#[test]
fn torch_transformer() {
    let mut case = Golden::open("torch_transformer.safetensors").part("transformer_post.");
    for other in ["src.", "tgt.", "memory."] {
        case.part(other);
    }
    let outputs = case.part("output.");
    let checkpoint = checkpoint(&case.tensors);
    let mut model = boxed::<Translator>();
    checkpoint.load::<TorchTransformer>(&mut *model).unwrap();
    let mut decoder = boxed::<CrossDecoder<PostGeluNorm, 2, 21, 35, 3>>();
    checkpoint.part("decoder.").load::<TorchDecoder>(&mut *decoder).unwrap();
    assert_eq!(numbers(&model.decoder), numbers(&*decoder));

    let golden = Golden::open("torch_transformer.safetensors").part("transformer_post.");
    let mut memory = boxed::<Memory<Encoder<PostGeluNorm, 2, 21, 35, 3>, 13>>();
    let mut source = boxed::<Source<2, 21, 13>>();
    let mut cache = boxed::<Cache<2, 21, 13>>();
    let mut scratch = boxed::<CrossScratch<21, 35, 13, 13, 4>>();
    for k in 0..6 {
        let take = |name: &str| golden.tensors[&format!("{name}.{k}")].rows::<21>();
        let Working { stream, scratch: tiles } = &mut *memory;
        stream.assign(&take("src")).unwrap();
        model.encoder.forward(stream, tiles);
        model.decoder.attend_to(stream, &mut source);
        let mut x = Sequence::<21, 13>::new();
        x.assign(&take("tgt")).unwrap();
        cache.reset();
        model.decoder.extend(&mut x, &source, &mut cache, &mut scratch).unwrap();
        let error = common::max_error(x.tokens().as_flattened(), outputs.tensors[&k.to_string()].numbers.clone());
        println!("nn.Transformer, lengths {k}: max error {error:.1e}");
        assert!(error < 2e-5);
    }
}

/// What transformers wrote into the `config.json` of a case, with changes.
fn config(case: &str, changes: &[(&str, &str)]) -> Vec<u8> {
    let reference = Golden::open("transformers_models.safetensors").reference;
    let mut reference: serde_json::Value = serde_json::from_str(&reference).unwrap();
    let config = &mut reference["cases"][case]["config"];
    assert!(config.is_object());
    for (key, value) in changes {
        config[*key] = serde_json::from_str(value).unwrap();
    }
    config.to_string().into_bytes()
}

type Bert22 = TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>;
type Roberta21 = TextEncoder<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Roberta, 2, 21, 35, 3>, 21>;
type Blocks<R, E> = Decoder<Llama<R, E>, 2, 24, 37, 6, f32, 2, 8>;
type Llama24<R> = LanguageModel<TokenEmbedding<53, 24>, Blocks<R, U5>, 24, 53, Linear<24, 53, f32, NoBias>>;
type Tied24 = LanguageModel<TokenEmbedding<53, 24>, Blocks<HalfSplit, typenum::U6>, 24, 53>;
type Far = Llama24<HalfSplit<typenum::Prod<typenum::U500, typenum::U1000>>>;

type Narrow = LanguageModel<TextEmbedding<53, 21, 17>, Encoder<Bert, 2, 21, 83, 3>, 21, 53>;

/// What contradicts a type in the `config.json` of a case, with changes.
fn wrong<M: Described>(case: &str, changes: &[(&str, &str)]) -> Vec<String> {
    match check_config::<M>(&config(case, changes)) {
        Ok(()) => vec![],
        Err(ConfigError::Contradictions(all)) => all.iter().map(ToString::to_string).collect(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn configurations() {
    let none: [&str; 0] = [];
    assert_eq!(wrong::<Bert22>("bert", &[]), none);
    assert_eq!(wrong::<Bert22>("bert_mlm", &[]), none);
    assert_eq!(wrong::<Roberta21>("roberta", &[]), none);
    assert_eq!(wrong::<TinyGpt2>("gpt2", &[]), none);
    assert_eq!(wrong::<Llama24<HalfSplit>>("llama", &[]), none);
    assert_eq!(wrong::<Tied24>("llama_tied", &[]), none);

    // One after the other, and models of another kind.
    for (key, value, expected) in [
        ("hidden_act", "\"gelu_new\"", "hidden_act: gelu expected, found gelu tanh"),
        ("layer_norm_eps", "1e-5", "layer_norm_eps: 1e-12 expected, found 1e-5"),
        ("num_attention_heads", "11", "num_attention_heads: 2 expected, found 11"),
        ("num_hidden_layers", "3", "num_hidden_layers: 2 expected, found 3"),
        ("hidden_size", "24", "hidden_size: 22 expected, found 24"),
        ("intermediate_size", "\"37\"", "intermediate_size: 37 expected, found \"37\""),
        ("vocab_size", "54", "vocab_size: 53 expected, found 54"),
        ("type_vocab_size", "1", "type_vocab_size: 2 expected, found 1"),
        ("max_position_embeddings", "19", "max_position_embeddings: 17 expected, found 19"),
        (
            "position_embedding_type",
            "\"relative_key\"",
            "position_embedding_type: absolute expected, found relative_key",
        ),
        ("is_decoder", "true", "is_decoder: false expected, found true"),
    ] {
        assert_eq!(wrong::<Bert22>("bert", &[(key, value)]), [expected]);
    }
    assert_eq!(
        wrong::<Llama24<Interleaved>>("llama", &[]),
        ["model_type: other positions expected, found llama, which is `HalfSplit`"]
    );
    assert_eq!(
        wrong::<Llama24<HalfSplit>>("llama_tied", &[("num_key_value_heads", "6"), ("rope_theta", "500000.0")]),
        [
            "num_key_value_heads: 2 expected, found 6",
            "rms_norm_eps: 1e-5 expected, found 1e-6",
            "rope_theta: 10000.0 expected, found 500000.0"
        ]
    );
    assert_eq!(
        wrong::<Far>("llama", &[("rope_theta", "null"), ("rope_parameters", "null")]),
        ["rope_theta: 500000 expected, found none, which is 10000"]
    );
    let far = [("rope_theta", "null"), ("rope_parameters", r#"{"rope_theta": 5e5}"#)];
    assert_eq!(wrong::<Far>("llama", &far), none);
    assert_eq!(wrong::<Llama24<HalfSplit>>("llama", &far), ["rope_theta: 10000.0 expected, found 500000.0"]);
    let scaling = r#"{"rope_type": "llama3", "factor": 8.0}"#;
    assert_eq!(
        wrong::<Tied24>("llama_tied", &[("rope_scaling", scaling), ("tie_word_embeddings", "false")]),
        ["rope_type: default expected, found llama3", "tie_word_embeddings: true expected, found false"]
    );
    assert_eq!(
        wrong::<TinyGpt2>("gpt2", &[("n_inner", "85"), ("scale_attn_by_inverse_layer_idx", "true")]),
        ["n_inner: 84 expected, found 85", "scale_attn_by_inverse_layer_idx: false expected, found true"]
    );
    assert_eq!(
        wrong::<Narrow>("gpt2", &[]),
        [
            "n_inner: 83 expected, found null, which is 84",
            "layer_norm_epsilon: 1e-12 expected, found 1e-5",
            "activation_function: gelu expected, found gelu tanh",
            "model_type: Post-LN expected, found gpt2, which is Pre-LN",
            "model_type: bidirectional expected, found gpt2, which is causal"
        ]
    );
    for json in ["", "[]", "{", "\"bert\""] {
        assert!(matches!(check_config::<Bert22>(json.as_bytes()), Err(ConfigError::Malformed(_))));
    }
    assert!(check_config::<Bert22>(b"{}").is_ok());
}

/// What is no text, number, truth or object where it should be; what changes the outputs; other models.
#[test]
fn configurations_of_other_models() {
    let none: [&str; 0] = [];
    for (key, value, expected) in [
        ("rope_theta", "\"10000\"", "rope_theta: 10000 expected, found \"10000\""),
        ("rms_norm_eps", "\"1e-5\"", "rms_norm_eps: a number expected, found \"1e-5\""),
        ("hidden_act", "5", "hidden_act: a text expected, found 5"),
        ("hidden_act", "[\"silu\"]", "hidden_act: a text expected, found [\"silu\"]"),
        ("tie_word_embeddings", "0", "tie_word_embeddings: true or false expected, found 0"),
        ("rope_scaling", "\"linear\"", "rope_scaling: an object expected, found \"linear\""),
        ("rope_scaling", "{\"factor\": 2.0}", "rope_type: default expected, found none"),
        ("sliding_window", "4", "sliding_window: none expected, found 4"),
        ("model_type", "5", "model_type: a text expected, found 5"),
        (
            "model_type",
            "\"gemma\"",
            "model_type: bert, roberta, xlm-roberta, camembert, gpt2 or llama expected, found gemma",
        ),
    ] {
        let mut found = wrong::<Tied24>("llama_tied", &[(key, value)]);
        if found.is_empty() {
            found = wrong::<Llama24<HalfSplit>>("llama", &[(key, value)]);
        }
        assert_eq!(found, [expected], "{key} {value}");
    }
    assert_eq!(
        wrong::<TinyGpt2>("gpt2", &[("scale_attn_weights", "false")]),
        ["scale_attn_weights: true expected, found false"]
    );
    assert_eq!(wrong::<Bert22>("bert", &[("hidden_act", "\"gelu_python\"")]), none);
    let missing = |json: &str| match check_config::<Llama24<HalfSplit>>(json.as_bytes()) {
        Err(ConfigError::Contradictions(all)) => all.iter().map(ToString::to_string).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(r#"{"model_type": "llama"}"#), ["rms_norm_eps: 1e-5 expected, found none, which is 1e-6"]);
    assert_eq!(wrong::<Far>("llama", &[("rope_theta", "5e5"), ("rope_parameters", "null")]), none);
}

/// A pair of texts: type 0, then type 1, at positions that go on.
#[test]
fn pairs_of_texts() {
    let mut embedding = boxed::<BertEmbedding<7, 5, 4>>();
    common::random::Random(5).fill(&mut *embedding);
    let mut x = Sequence::<5, 4>::new();
    embedding.forward_pair(&[3, 1], &[4], &mut x).unwrap();
    let naive = |id: usize, position: usize, kind: usize| {
        let parts = [
            &embedding.tokens.weight.rows[id],
            &embedding.positions.weight.rows[position],
            &embedding.types.rows[kind],
        ];
        let mut token = [std::array::from_fn(|i| parts.iter().map(|part| part[i]).sum())];
        embedding.norm.forward(&mut token);
        token[0]
    };
    assert_eq!(x.tokens(), [naive(3, 0, 0), naive(1, 1, 0), naive(4, 2, 1)]);
    embedding.forward_pair(&[3, 1, 4], &[], &mut x).unwrap();
    let pair = x.clone();
    embedding.forward(&[3, 1, 4], &mut x).unwrap();
    assert_eq!(x, pair);

    let error = embedding.forward_pair(&[3, 1], &[7], &mut x).unwrap_err();
    assert_eq!((error, x.len()), (UnknownToken { id: 7, vocabulary: 7 }.into(), 0));
    let error = embedding.forward_pair(&[3, 1], &[2, 2, 2], &mut x).unwrap_err();
    assert_eq!((error, x.len()), (TooLong { capacity: 4, found: 5 }.into(), 0));
    assert_eq!(embedding.forward_pair(&[], &[2], &mut x), Err(Empty.into()));
}

// --- types of numbers ------------------------------------------------------------------------------------------------

const EXACT: [f64; 8] = [0.0, -0.0, 1.0, -2.5, 0.0625, 3.0, -0.375, 112.0];

#[test]
fn every_type_of_numbers_at_every_address() {
    let tensors = small(&[("weight", &[2, 3], &EXACT[..6]), ("bias", &[2], &EXACT[6..])]);
    for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16] {
        let file = file_of(dtype, &tensors);
        for shift in 0..16 {
            let moved = [&vec![0; shift], &file[..]].concat();
            let mut linear = Linear::<3, 2>::ZERO;
            Checkpoint::from_bytes(&moved[shift..]).unwrap().load::<Native>(&mut linear).unwrap();
            let mut expected = Linear::<3, 2>::ZERO;
            expected.weight.copy_from_out_in(&[[0.0, -0.0, 1.0], [-2.5, 0.0625, 3.0]]);
            expected.bias = [-0.375, 112.0];
            assert_eq!(numbers(&linear), numbers(&expected), "{dtype:?}");
        }
    }
    let errors = faults(
        Checkpoint::from_bytes(file_of(Dtype::I32, &tensors)).unwrap().load::<Native>(&mut *boxed::<Linear<3, 2>>()),
    );
    let [weight, bias] = &errors[..] else { panic!() };
    assert_eq!(weight.to_string(), "type: weight: F64, F32, F16 or BF16 expected for weight, found I32");
    assert!(matches!(bias, Fault::Dtype { found: Dtype::I32, .. }));
}

#[test]
fn subnormal_halves_and_rounded_doubles() {
    let mut x = [0f32; 3];
    let halves = [0x0001u16, 0x83ff, 0x7bff].map(u16::to_le_bytes).concat();
    let view = TensorView::new(Dtype::F16, vec![3], &halves).unwrap();
    let file = safetensors::serialize([("", view)], None).unwrap();
    Checkpoint::from_bytes(file).unwrap().load::<Native>(&mut x).unwrap();
    assert_eq!(x, [2f32.powi(-24), -1023.0 * 2f32.powi(-24), 65504.0]);

    let file = file_of(Dtype::F64, &small(&[("", &[3], &[0.1, 1.0 + 2f64.powi(-40), -1e-60])]));
    Checkpoint::from_bytes(file).unwrap().load::<Native>(&mut x).unwrap();
    assert_eq!(x, [0.1, 1.0, 0.0]);
}

#[test]
fn what_is_not_finite_is_an_error_with_its_name_and_place() {
    for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16] {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let tensors = small(&[("weight", &[2, 3], &[0.0, 1.0, 2.0, 3.0, wrong, 5.0]), ("bias", &[2], &[6.0, 7.0])]);
            let mut linear = Linear::<3, 2>::ZERO;
            let error =
                Checkpoint::from_bytes(file_of(dtype, &tensors)).unwrap().load::<Native>(&mut linear).unwrap_err();
            let text = error.to_string();
            assert!(text.ends_with(&format!("  not finite: weight: {wrong} at place 4, for weight")), "{text}");
            assert_eq!(numbers(&linear), numbers(&Linear::<3, 2>::ZERO), "the bias has not been written either");
        }
    }
    // Too large for f32.
    let file = file_of(Dtype::F64, &small(&[("", &[2], &[0.0, -1e39])]));
    let errors = faults(Checkpoint::from_bytes(file).unwrap().load::<Native>(&mut [0f32; 2]));
    assert!(matches!(errors[..], [Fault::NotFinite { place: 1, found: f32::NEG_INFINITY, .. }]));
}

// --- files that do not fit -------------------------------------------------------------------------------------------

#[test]
fn everything_that_is_wrong_at_once_and_nothing_half_loaded() {
    let mut case = Golden::open("torch_encoder.safetensors").part("post_relu.");
    case.part("input.");
    case.part("output.");
    let mut model = boxed::<Encoder<PostRelu, 1, 21, 35, 3>>();
    common::random::Random(1).fill(&mut *model);
    let before = numbers(&*model);

    case.take("layers.0.norm1.bias");
    case.take("layers.0.self_attn.in_proj_bias");
    case.tensors.get_mut("layers.0.linear1.weight").unwrap().shape.reverse();
    let wide = Values { shape: vec![22], numbers: vec![0.0; 22] };
    case.tensors.insert("layers.0.linear2.bias".into(), wide);
    case.tensors.get_mut("layers.0.norm2.weight").unwrap().numbers[20] = f64::NAN;
    case.tensors.insert("layers.1.norm1.bias".into(), Values { shape: vec![21], numbers: vec![0.0; 21] });
    case.tensors.insert("scale".into(), Values { shape: vec![], numbers: vec![1.0] });
    let error = checkpoint(&case.tensors).load::<TorchEncoder>(&mut *model).unwrap_err().to_string();
    let expected = "the checkpoint is not one of `Encoder<PostRelu, 1, 21, 35, 3>`:
  missing: layers.0.self_attn.in_proj_bias, for blocks.0.attention.query.bias
  missing: layers.0.self_attn.in_proj_bias, for blocks.0.attention.key.bias
  missing: layers.0.self_attn.in_proj_bias, for blocks.0.attention.value.bias
  missing: layers.0.norm1.bias, for blocks.0.attention_norm.bias
  shape: layers.0.linear1.weight: [35, 21] expected for blocks.0.feed_forward.inner.weight, found [21, 35], which is transposed
  shape: layers.0.linear2.bias: [21] expected for blocks.0.feed_forward.outer.bias, found [22]
  not finite: layers.0.norm2.weight: NaN at place 20, for blocks.0.feed_forward_norm.weight
  left over: layers.1.norm1.bias [21]
  left over: scale []";
    assert_eq!(error, expected);
    assert_eq!(numbers(&*model), before, "as it was");
}

/// Query, key and value of one matrix must be of its thirds.
#[test]
fn fused_projections_of_another_width() {
    let (mut weights, _) = case("gpt2", "logits.");
    weights
        .tensors
        .insert("transformer.h.1.attn.c_attn.bias".into(), Values { shape: vec![62], numbers: vec![0.0; 62] });
    let errors = faults(checkpoint(&weights.tensors).load::<HuggingFaceGpt2>(&mut *boxed::<TinyGpt2>()));
    assert_eq!(errors.len(), 3);
    assert!(matches!(&errors[2], Fault::Shape { expected, found, .. } if expected == &[63] && found == &[62]));
}

#[test]
fn models_of_another_number_of_layers() {
    type Deeper = LanguageModel<TextEmbedding<53, 21, 17>, Encoder<Gpt2, 3, 21, 84, 3>, 21, 53>;
    type Shallower = LanguageModel<TextEmbedding<53, 21, 17>, Encoder<Gpt2, 1, 21, 84, 3>, 21, 53>;

    let (weights, _) = case("gpt2", "logits.");
    let errors = faults(checkpoint(&weights.tensors).load::<HuggingFaceGpt2>(&mut *boxed::<Deeper>()));
    assert!(errors.len() == 16 && errors.iter().all(|fault| matches!(fault, Fault::Missing { .. })));
    let errors = faults(checkpoint(&weights.tensors).load::<HuggingFaceGpt2>(&mut *boxed::<Shallower>()));
    assert!(errors.len() == 12 && errors.iter().all(|fault| matches!(fault, Fault::LeftOver { .. })));
}

/// A classifier on top of BERT has a pooler between, which `Classifier` has not: there is no name for its head.
#[test]
fn what_a_scheme_does_not_know() {
    type Model = Classifier<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 3>;

    let (weights, _) = case("bert", "hidden.");
    let errors = faults(checkpoint(&weights.tensors).load::<HuggingFaceBert>(&mut *boxed::<Model>()));
    let unknown = |tensor: &str| Fault::Unknown { tensor: tensor.into() };
    assert_eq!(errors, [unknown("head.weight"), unknown("head.bias")]);
    assert_eq!(errors[0].to_string(), "unknown: head.weight: the scheme has no tensor for it");
}

#[test]
fn left_over_unless_one_says_so() {
    let tensors = small(&[("a.", &[2], &[1.0, 2.0]), ("a.step", &[1], &[3.0]), ("b.", &[2], &[4.0, 5.0])]);
    let checkpoint = checkpoint(&tensors);
    assert_eq!(checkpoint.tensors().map(|(name, _)| name).collect::<Vec<_>>(), ["a.", "a.step", "b."]);
    let mut x = [0f32; 2];
    let errors = faults(checkpoint.clone().part("a.").load::<Native>(&mut x));
    assert_eq!(errors, [Fault::LeftOver { origin: "step".into(), shape: vec![1] }]);
    checkpoint.clone().part("a.").without("step").load::<Native>(&mut x).unwrap();
    assert_eq!(x, [1.0, 2.0]);
    checkpoint.part("b.").load::<Native>(&mut x).unwrap();
    assert_eq!(x, [4.0, 5.0]);
}

#[test]
fn the_same_name_with_and_without_a_prefix_is_ambiguous() {
    let tensors = small(&[("norm.weight", &[2], &[1.0, 2.0]), ("module.norm.weight", &[2], &[1.0, 2.0])]);
    let errors = faults(checkpoint(&tensors).load::<TorchEncoder>(&mut NoNorm));
    assert!(errors.contains(&Fault::Twice { first: "module.norm.weight".into(), second: "norm.weight".into() }));
}

// --- several files ---------------------------------------------------------------------------------------------------

fn halves() -> [Vec<u8>; 2] {
    [small(&[("weight", &[2, 1], &[1.0, 2.0])]), small(&[("bias", &[2], &[3.0, 4.0])])]
        .map(|tensors| file_of(Dtype::F32, &tensors))
}

fn index(map: &str) -> String {
    format!(r#"{{"metadata": {{"total_size": 16}}, "weight_map": {{{map}}}}}"#)
}

#[test]
fn shards() {
    let [weight, bias] = halves();
    let folder = Folder::new("shards");
    folder.write("model-00001-of-00002.safetensors", &weight);
    folder.write("model-00002-of-00002.safetensors", &bias);
    let map = r#""weight": "model-00001-of-00002.safetensors", "bias": "model-00002-of-00002.safetensors""#;
    let path = folder.write("model.safetensors.index.json", index(map));
    let from_bytes = Checkpoint::from_shards([&weight, &bias]).unwrap();
    for checkpoint in [Checkpoint::open(&path).unwrap(), Checkpoint::open(&folder.0).unwrap(), from_bytes] {
        let mut linear = Linear::<1, 2>::ZERO;
        checkpoint.load::<Native>(&mut linear).unwrap();
        assert_eq!(linear.apply(&[10.0]), [13.0, 24.0]);
    }

    // A folder with a single file; that comes first.
    folder.write("model.safetensors", file_of(Dtype::F32, &small(&[("", &[1], &[9.0])])));
    let mut x = [0f32];
    Checkpoint::open(&folder.0).unwrap().load::<Native>(&mut x).unwrap();
    assert_eq!(x, [9.0]);
}

#[test]
fn an_index_that_is_wrong() {
    let [weight, bias] = halves();
    let folder = Folder::new("index");
    folder.write("1", &weight);
    folder.write("2", &bias);
    let error = |text: String| Checkpoint::open(folder.write("index.json", text)).unwrap_err().to_string();
    let ends = |text: String, end: &str| assert!(error(text).ends_with(end));
    ends(
        index(r#""weight": "1""#).replace("weight_map", "map"),
        "names of tensors with those of files, expected, found none",
    );
    ends(index(r#""weight": "1", "bias": "1""#), "index.json: bias expected in 1, found in no file");
    ends(index(r#""weight": "2", "bias": "1""#), "index.json: bias expected in 1, found in 2");
    ends(index(r#""bias": "2", "scale": "1""#), "index.json: scale expected in 1, found in no file");
    ends(index(r#""weight": "1", "bias": 2"#), "the name of a file expected for bias, found 2");
    for outside in ["../x", "/etc/passwd", "a/b", "..", ""] {
        ends(index(&format!(r#""weight": "{outside}""#)), &format!("for weight, found `{outside}`"));
    }
    assert!(matches!(Checkpoint::open(folder.write("no.json", "{")), Err(LoadError::Index(_))));
    assert!(
        error(index(r#""weight": "3""#)).contains("index/3: ")
            || cfg!(windows)
            || error(index(r#""weight": "3""#)).contains("/3: ")
    );
    assert!(matches!(Checkpoint::open(folder.0.join("none.safetensors")), Err(LoadError::File { .. })));

    folder.write("both", file_of(Dtype::F32, &small(&[("weight", &[2, 1], &[1.0, 2.0]), ("bias", &[2], &[3.0, 4.0])])));
    ends(index(r#""weight": "both""#), "index.json: bias is in a file, but not in the index");
}

#[test]
fn a_tensor_in_two_shards() {
    let [weight, bias] = halves();
    let checkpoint = Checkpoint::from_shards([&weight, &bias, &weight]).unwrap();
    let errors = faults(checkpoint.load::<Native>(&mut *boxed::<Linear<1, 2>>()));
    assert_eq!(errors, [Fault::Twice { first: "weight".into(), second: "weight".into() }]);
}

// --- files that are none ---------------------------------------------------------------------------------------------

#[test]
fn every_truncation_and_extension_is_an_error() {
    let file = file_of(Dtype::F32, &small(&[("weight", &[2, 3], &EXACT[..6]), ("bias", &[2], &EXACT[6..])]));
    for len in 0..file.len() {
        assert!(matches!(Checkpoint::from_bytes(&file[..len]), Err(LoadError::Malformed { .. })), "{len} bytes");
    }
    assert!(Checkpoint::from_bytes([&file[..], &[0]].concat()).is_err());
    let error = Checkpoint::from_bytes(b"short".as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "file 0: not a safetensors file, or damaged: header too small");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn headers_that_lie_are_errors() {
    let tensor = |shape: &str, offsets: &str| format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}"#);
    let two = |a: &str, b: &str| format!(r#"{{"a":{},"b":{}}}"#, tensor("[2]", a), tensor("[2]", b));
    let one = |shape: &str, offsets: &str| format!(r#"{{"a":{}}}"#, tensor(shape, offsets));
    assert!(Checkpoint::from_bytes(raw(&two("[0,8]", "[8,16]"), 16)).is_ok());
    for (what, header, data) in [
        ("overlapping", two("[0,8]", "[4,12]"), 12),
        ("the same", two("[0,8]", "[0,8]"), 8),
        ("a gap", two("[0,8]", "[12,20]"), 20),
        ("not from the beginning", one("[2]", "[4,12]"), 12),
        ("beyond the end", two("[0,8]", "[8,16]"), 12),
        ("more data than tensors", two("[0,8]", "[8,16]"), 24),
        ("backwards", one("[2]", "[8,0]"), 8),
        ("another size than the shape", one("[3]", "[0,8]"), 8),
        ("a product that overflows", one("[4294967296,4294967296,2]", "[0,8]"), 8),
        ("bytes that overflow", one("[4611686018427387905]", "[0,4]"), 4),
        ("offsets that overflow", one("[2]", "[18446744073709551608,18446744073709551615]"), 8),
        ("a negative offset", one("[2]", "[-8,0]"), 8),
        ("an unknown type", one("[2]", "[0,8]").replace("F32", "F33"), 8),
        ("no object", "[]".into(), 0),
        ("no JSON", "{".into(), 0),
        ("deep", "[".repeat(100_000), 0),
        ("a deep value", format!(r#"{{"a":{}"#, "{\"a\":".repeat(100_000)), 0),
    ] {
        let result = Checkpoint::from_bytes(raw(&header, data));
        assert!(matches!(result, Err(LoadError::Malformed { .. })), "{what}");
    }
    for length in [0u64, 7, 1 << 20, 100_000_001, 1 << 40, 1 << 63, u64::MAX - 7, u64::MAX] {
        let bytes = [&length.to_le_bytes()[..], b"{}      "].concat();
        assert!(Checkpoint::from_bytes(bytes).is_err(), "a header of {length} bytes");
    }
    assert!(Checkpoint::from_bytes([&4u64.to_le_bytes()[..], b"{\"\xff\"}"].concat()).is_err(), "no UTF-8");
    assert_eq!(Checkpoint::from_bytes(raw("{}", 0)).unwrap().tensors().count(), 0);
}

// --- and back ----------------------------------------------------------------------------------------------------------

/// What PyTorch and transformers wrote, read and written again: the same names, shapes and numbers, so that their loaders take it.
fn round_trip<S: Scheme, M: Parameters>(name: &str, tensors: &BTreeMap<String, Values>) {
    let folder = Folder::new(&format!("export-{name}"));
    let path = folder.0.join("model.safetensors");
    let mut model = boxed::<M>();
    checkpoint(tensors).load::<S>(&mut *model).unwrap();
    export::<S>(&*model, &path).unwrap();
    let mut found = Golden::read(path.to_str().unwrap()).tensors;
    for (name, expected) in tensors {
        let canonical = S::canonical(name);
        if S::harmless(&canonical) && !found.contains_key(&canonical) {
            continue;
        }
        let found = found.remove(&canonical).unwrap_or_else(|| panic!("there is no {canonical}"));
        assert_eq!(found.shape, expected.shape, "{canonical}");
        // RoBERTa's first positions are not those of tokens.
        let missing = expected.numbers.len() - found.numbers.iter().skip_while(|x| **x == 0.0).count();
        assert!(missing == 0 || name.contains("position_embeddings") && missing == 2 * expected.shape[1], "{name}");
        assert!(found.numbers[missing..] == expected.numbers[missing..], "{canonical}");
    }
    assert!(found.is_empty(), "more than there was: {:?}", found.keys());
}

#[test]
fn models_are_written_as_pytorch_and_transformers_do() {
    round_trip::<HuggingFaceBert, Bert22>("bert", &case("bert", "hidden.").0.tensors);
    round_trip::<HuggingFaceRoberta, Roberta21>("roberta", &case("roberta", "hidden.").0.tensors);
    round_trip::<HuggingFaceGpt2, TinyGpt2>("gpt2", &case("gpt2", "logits.").0.tensors);
    round_trip::<HuggingFaceLlama, Llama24<HalfSplit>>("llama", &case("llama", "logits.").0.tensors);
    round_trip::<HuggingFaceLlama, Tied24>("llama_tied", &case("llama_tied", "logits.").0.tensors);
    let mut stack = Golden::open("torch_encoder.safetensors").part("pre_gelu.");
    stack.part("input.");
    stack.part("output.");
    round_trip::<TorchEncoder, Encoder<PreGelu, 2, 21, 35, 3>>("torch", &stack.tensors);
    let mut whole = Golden::open("torch_transformer.safetensors").part("transformer_post.");
    for other in ["src.", "tgt.", "memory.", "output."] {
        whole.part(other);
    }
    round_trip::<TorchTransformer, Translator>("transformer", &whole.tensors);
}

#[test]
fn what_has_no_name_there_is_not_written() {
    let folder = Folder::new("export-unknown");
    let path = folder.write("model.safetensors", "as it was");
    let error = export::<TorchEncoder>(&*boxed::<TinyGpt2>(), &path).unwrap_err();
    let expected = "checkpoints of this kind have no tensor for embedding.tokens.weight, embedding.positions.weight";
    assert_eq!(error.to_string(), expected);
    assert_eq!(fs::read(&path).unwrap(), b"as it was");
    let nowhere = folder.0.join("nowhere").join("model.safetensors");
    assert!(matches!(export::<Native>(&*boxed::<TinyGpt2>(), nowhere), Err(ExportError::File(_))));
}
