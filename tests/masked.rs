//! Masked language models against Hugging Face's, and what fits into one.

mod common;

use common::golden::Golden;
use constformer::{load::*, typenum::U5, *};

common::families! {
    Roberta: PostLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final NoNorm;
}

type TinyBert = MaskedLanguageModel<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 53>;
type TinyRoberta = MaskedLanguageModel<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Roberta, 2, 21, 35, 3>, 21, 53, U5>;

const FILE: &str = "transformers_models.safetensors";

/// The tensors of a case.
fn weights(case: &str) -> Golden {
    let mut golden = Golden::open(FILE).part(&format!("{case}."));
    golden.part("input.");
    golden.part("logits.");
    golden
}

fn faults(result: Result<(), LoadError>) -> Vec<Fault> {
    match result.unwrap_err() {
        LoadError::Tensors { faults, .. } => faults,
        other => panic!("{other}"),
    }
}

/// The logits of every token of every input.
macro_rules! check {
    ($case:literal, $scheme:ty, $model:ty) => {{
        let mut model = boxed::<$model>();
        weights($case).checkpoint().load::<$scheme>(&mut *model).unwrap();
        let mut memory = boxed::<Memory<$model, 17>>();
        let mut golden = Golden::open(FILE).part(concat!($case, "."));
        let (inputs, mut logits) = (golden.part("input."), golden.part("logits."));
        assert_eq!(inputs.tensors.len(), 3);
        for (k, ids) in inputs.tensors {
            let ids: Vec<u32> = ids.numbers.iter().map(|id| *id as u32).collect();
            let mut found = vec![];
            for token in model.hidden(&ids, &mut memory).unwrap() {
                let mut logits = [0.0; 53];
                model.logits(token, &mut logits);
                found.extend(logits);
            }
            let error = common::max_error(&found, logits.take(&k).numbers);
            println!("{}, {} tokens: max error {error:.1e}", $case, ids.len());
            assert!(error < 2e-5);
        }
    }};
}

#[test]
fn bert() {
    check!("bert_mlm", HuggingFaceBert, TinyBert);
}

#[test]
fn roberta() {
    check!("roberta_mlm", HuggingFaceRoberta, TinyRoberta);
}

/// Files that have the head's matrix too, and those where it is another matrix than the table.
#[test]
fn the_decoder_is_the_table() {
    fn check<S: Scheme, M: Parameters, Headless: Parameters>(case: &str, head: &str, table: &str, bias: &str) {
        let mut weights = weights(case);
        let mut expected = boxed::<M>();
        weights.checkpoint().load::<S>(&mut *expected).unwrap();
        for (theirs, ours) in [(format!("{head}.weight"), table), (format!("{head}.bias"), bias)] {
            weights.tensors.insert(theirs, weights.tensors[ours].clone());
        }
        let mut model = boxed::<M>();
        weights.checkpoint().load::<S>(&mut *model).unwrap();
        assert!(numbers(&*model) == numbers(&*expected));

        weights.tensors.get_mut(&format!("{head}.weight")).unwrap().numbers[30] += 0.5;
        let errors = faults(weights.checkpoint().load::<S>(&mut *model));
        let not_tied = Fault::NotTied { head: format!("{head}.weight"), embedding: table.into() };
        assert_eq!(errors, [not_tied]);
        assert!(numbers(&*model) == numbers(&*expected), "as it was");
        // A model without a head does not care.
        weights.checkpoint().load::<S>(&mut *boxed::<Headless>()).unwrap();
    }
    check::<HuggingFaceBert, TinyBert, TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>>(
        "bert_mlm",
        "cls.predictions.decoder",
        "bert.embeddings.word_embeddings.weight",
        "cls.predictions.bias",
    );
    check::<
        HuggingFaceRoberta,
        TinyRoberta,
        TextEncoder<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Roberta, 2, 21, 35, 3>, 21>,
    >("roberta_mlm", "lm_head.decoder", "roberta.embeddings.word_embeddings.weight", "lm_head.bias");
}

fn numbers(model: &impl Parameters) -> Vec<u32> {
    let mut all = vec![];
    model.for_each_tensor(|_, tensor| all.extend(tensor.stored().iter().map(|x| x.to_bits())));
    all
}

#[test]
fn a_file_without_a_head() {
    let mut weights = weights("bert_mlm");
    weights.part("cls.");
    let errors = faults(weights.checkpoint().load::<HuggingFaceBert>(&mut *boxed::<TinyBert>()));
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "missing: cls.predictions.transform.dense.weight, for head.dense.weight",
            "missing: cls.predictions.transform.dense.bias, for head.dense.bias",
            "missing: cls.predictions.transform.LayerNorm.weight, for head.norm.weight",
            "missing: cls.predictions.transform.LayerNorm.bias, for head.norm.bias",
            "missing: cls.predictions.bias, for head.decoder_bias",
        ]
    );
}

#[test]
fn configurations() {
    type OfTanh = MaskedLanguageModel<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 53, U5, GeluTanh>;

    let reference: serde_json::Value = serde_json::from_str(&Golden::open(FILE).reference).unwrap();
    let config = |case: &str| reference["cases"][case]["config"].to_string().into_bytes();
    check_config::<TinyBert>(&config("bert_mlm")).unwrap();
    check_config::<TinyRoberta>(&config("roberta_mlm")).unwrap();
    assert_eq!(
        check_config::<OfTanh>(&config("bert_mlm")).unwrap_err().to_string(),
        "config.json contradicts the type of the model:
  layer_norm_eps: 1e-5 expected, found 1e-12
  hidden_act: gelu tanh expected, found gelu"
    );
}

/// What a `MaskedHead` costs is in the plan, and what it computes in the fingerprint.
#[test]
fn plan_and_fingerprint() {
    type Headless = TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>;
    type OfTanh =
        MaskedLanguageModel<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 53, typenum::U12, GeluTanh>;

    assert_eq!(TinyBert::COUNT - Headless::COUNT, 22 * 22 + 22 + 2 * 22 + 53);
    assert_eq!(Plan::<TinyBert, 17>::MACS - Plan::<Headless, 17>::MACS, 22 * 22 + 22 * 53);
    assert_eq!(size_of::<TinyBert>(), 4 * TinyBert::COUNT);
    assert_ne!(TinyBert::FINGERPRINT, OfTanh::FINGERPRINT);
}
