//! A model against the activations that PyTorch had, named by its modules: made by `tests/reference/activations.py`.

use constformer::{load::*, *};
use std::convert::Infallible;

type Torch = Encoder<Custom<PreLn, Gelu, WithFinalNorm>, 2, 12, 20, 3>;
type BertModel = TextEncoder<BertEmbedding<11, 12, 8>, Encoder<Bert, 2, 12, 20, 3>, 12>;
type Gpt = LanguageModel<TextEmbedding<11, 12, 8>, Decoder<Gpt2, 2, 12, 20, 3>, 12, 11>;

const GOLDEN: &[u8] = include_bytes!("golden/activations.safetensors");
const IDS: [u32; 6] = [3, 1, 4, 1, 5, 9];

fn golden(part: &str) -> Checkpoint<'static> {
    Checkpoint::from_bytes(GOLDEN).unwrap().part(part)
}

fn loaded<S: Scheme, M: Parameters>(name: &str) -> Boxed<M> {
    let mut model = boxed::<M>();
    golden(&format!("{name}.model.")).load::<S>(&mut *model).unwrap();
    model
}

fn torch_inputs() -> Sequence<12, 8> {
    let file = safetensors::SafeTensors::deserialize(GOLDEN).unwrap();
    let numbers: Vec<f32> =
        file.tensor("torch.inputs").unwrap().data().as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    let mut x = Sequence::new();
    numbers.as_chunks().0.iter().for_each(|token| x.push(token).unwrap());
    x
}

fn compare_torch(model: &Torch, tolerance: f32) -> Result<Agreement, CompareError> {
    let (mut x, mut scratch) = (torch_inputs(), boxed::<Scratch<12, 20, 8, 4>>());
    compare::<TorchEncoder, _>(&golden("torch.activations."), tolerance, |seen| {
        model.observe(&mut x, &mut scratch, &Name::ROOT, seen);
    })
}

fn compare_bert(model: &BertModel, reference: &Checkpoint<'_>) -> Result<Agreement, CompareError> {
    let mut memory = boxed::<Memory<BertModel, 8>>();
    compare::<HuggingFaceBert, _>(reference, 1e-5, |seen| model.observe(&IDS, &mut memory, seen).map(drop))
}

fn compare_gpt(model: &Gpt) -> Result<Agreement, CompareError> {
    let mut memory = boxed::<Memory<Gpt, 8>>();
    let mut logits = [0.0; 11];
    compare::<HuggingFaceGpt2, _>(&golden("gpt2.activations."), 1e-5, |seen| {
        model.observe(&IDS, &mut memory, &mut logits, seen)
    })
}

fn names(agreement: &Agreement) -> Vec<(&str, &str)> {
    agreement.compared.iter().map(|compared| (compared.name.as_str(), compared.reference.as_str())).collect()
}

/// Of each block, what its modules have computed, in the order in which it is computed; and what is not compared is known.
#[test]
fn models_of_pytorch_agree_module_by_module() {
    let agreement = compare_torch(&loaded::<TorchEncoder, Torch>("torch"), 1e-5).unwrap();
    let block = [
        ("blocks.0.attention_norm", "layers.0.norm1"),
        ("blocks.0.attention", "layers.0.self_attn"),
        ("blocks.0.feed_forward_norm", "layers.0.norm2"),
        ("blocks.0.feed_forward.inner", "layers.0.linear1"),
        ("blocks.0.feed_forward", "layers.0.linear2"),
        ("blocks.0", "layers.0"),
    ];
    assert_eq!(names(&agreement)[..6], block);
    assert_eq!(names(&agreement)[12..], [("norm", "norm")]);
    assert!(agreement.unseen.iter().all(|name| name.contains("dropout")), "{:?}", agreement.unseen);
    assert!(agreement.compared.iter().all(|compared| compared.difference < 1e-5));
}

#[test]
fn models_of_hugging_face_agree_module_by_module() {
    let agreement = compare_bert(&loaded::<HuggingFaceBert, _>("bert"), &golden("bert.activations.")).unwrap();
    let found = names(&agreement);
    assert_eq!(found[0], ("embedding", "embeddings"));
    assert_eq!(found[1], ("encoder.blocks.0.attention.key", "encoder.layer.0.attention.self.key"));
    assert!(found.contains(&("encoder.blocks.1.feed_forward", "encoder.layer.1.output.dense")));
    assert_eq!(found.len(), 1 + 2 * 9);

    let agreement = compare_gpt(&loaded::<HuggingFaceGpt2, _>("gpt2")).unwrap();
    let found = names(&agreement);
    for part in ["query", "key", "value"] {
        assert!(found.contains(&(&format!("decoder.blocks.1.attention.{part}"), "h.1.attn.c_attn")), "{part}");
    }
    assert_eq!(found.last(), Some(&("decoder.norm", "ln_f")));
    assert_eq!(found.len(), 1 + 2 * 9 + 1);
}

fn departure<T: std::fmt::Debug>(result: Result<T, CompareError>) -> Departure {
    match result {
        Err(CompareError::Departs(departure)) => *departure,
        other => panic!("{other:?}"),
    }
}

/// A fault in each tensor of the first block is found where it acts first, and not earlier.
#[test]
fn a_fault_is_found_where_it_is() {
    let cases = [
        ("blocks.0.attention_norm.bias", "blocks.0.attention_norm"),
        ("blocks.0.attention.query.weight", "blocks.0.attention"),
        ("blocks.0.attention.output.bias", "blocks.0.attention"),
        ("blocks.0.feed_forward_norm.weight", "blocks.0.feed_forward_norm"),
        ("blocks.0.feed_forward.inner.bias", "blocks.0.feed_forward.inner"),
        ("blocks.1.feed_forward.outer.weight", "blocks.1.feed_forward"),
        ("norm.bias", "norm"),
    ];
    for (tensor, expected) in cases {
        let mut model = loaded::<TorchEncoder, Torch>("torch");
        model.for_each_tensor_mut(|name, mut other| {
            if name.to_string() == tensor {
                other.stored_mut()[3] += 0.5;
            }
        });
        let departure = departure(compare_torch(&model, 1e-5));
        assert_eq!(departure.name, expected, "{departure}");
        assert!(departure.count > 0 && (departure.found - departure.expected).abs() > 1e-5);
        assert!(departure.before.compared.iter().all(|compared| compared.difference < 1e-5));
    }
}

/// The family of a model is part of its type: a wrong activation is found at the first layer whose input it is.
#[test]
fn a_wrong_family_is_found() {
    type Wrong = Encoder<Custom<PreLn, GeluTanh, WithFinalNorm>, 2, 12, 20, 3>;
    let model = loaded::<TorchEncoder, Wrong>("torch");
    let (mut x, mut scratch) = (torch_inputs(), boxed::<Scratch<12, 20, 8, 4>>());
    let found = departure(compare::<TorchEncoder, _>(&golden("torch.activations."), 1e-5, |seen| {
        model.observe(&mut x, &mut scratch, &Name::ROOT, seen);
    }));
    assert_eq!(found.name, "blocks.0.feed_forward");
    assert_eq!(found.before.compared.last().unwrap().name, "blocks.0.feed_forward.inner");
    let message = found.to_string();
    assert!(
        message.starts_with("`blocks.0.feed_forward` departs from `layers.0.linear2` of the reference in "),
        "{message}"
    );
    assert!(message.contains("before it, 4 activations agree"), "{message}");
}

#[test]
fn a_number_that_is_none_departs() {
    let mut model = loaded::<HuggingFaceGpt2, Gpt>("gpt2");
    model.decoder.blocks[1].attention_norm.weight[5] = f32::NAN;
    let departure = departure(compare_gpt(&model));
    assert_eq!(departure.name, "decoder.blocks.1.attention_norm");
    assert!(departure.found.is_nan() && departure.feature == 5);
}

#[test]
fn what_cannot_be_compared_is_told() {
    let bert = loaded::<HuggingFaceBert, BertModel>("bert");
    let error = compare_bert(&bert, &golden("torch.activations.")).unwrap_err();
    assert!(matches!(&error, CompareError::NothingInCommon { reference, .. } if reference.len() == 19), "{error}");
    let error = compare_bert(&bert, &golden("nothing")).unwrap_err();
    assert!(matches!(error, CompareError::NothingInCommon { .. }), "{error}");

    let (reference, mut memory) = (golden("bert.activations."), boxed::<Memory<BertModel, 8>>());
    for ids in [&IDS[..5], &[3, 1, 4, 1, 5, 9, 2]] {
        let error =
            compare::<HuggingFaceBert, _>(&reference, 1e-5, |seen| bert.observe(ids, &mut memory, seen).map(drop));
        assert!(
            matches!(error, Err(CompareError::Shape { ref expected, found: [tokens, 12], .. })
                if *expected == [1, 6, 12] && tokens == ids.len()),
            "{error:?}"
        );
    }
    let error =
        compare::<HuggingFaceBert, _>(&reference, 1e-5, |seen| bert.observe(&[11], &mut memory, seen).map(drop));
    let Err(CompareError::Forward(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.to_string(), "token id 11 in a vocabulary of 11");

    // Names of this library, in a file whose numbers are of another type, or of another width.
    let file = |dtype: &str, shape: &str, bytes: usize| {
        let header = format!(r#"{{"norm":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{bytes}]}}}}"#);
        Checkpoint::from_bytes([&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; bytes]].concat())
            .unwrap()
    };
    let (torch, mut scratch) = (loaded::<TorchEncoder, Torch>("torch"), boxed::<Scratch<12, 20, 8, 4>>());
    let mut with = |reference: &Checkpoint<'_>| {
        let mut x = torch_inputs();
        compare::<TorchEncoder, _>(reference, 1e9, |seen| {
            torch.observe(&mut x, &mut scratch, &Name::ROOT, seen);
            Ok::<_, Infallible>(())
        })
    };
    assert!(matches!(with(&file("I32", "[6,12]", 288)), Err(CompareError::Unreadable { .. })));
    assert!(matches!(with(&file("F32", "[6,11]", 264)), Err(CompareError::Shape { .. })));
    assert!(matches!(with(&file("F32", "[12]", 48)), Err(CompareError::Shape { .. })));
    assert_eq!(with(&file("F32", "[6,12]", 288)).unwrap().compared.len(), 1);
}
