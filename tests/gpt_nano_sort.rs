//! minGPT's sorter of three letters, six in and six out: every activation, seen through an observer, and every input. Its files are
//! no part of the repository: `CONSTFORMER_MODELS` says where they are.

mod common;

use common::golden::{Golden, Values};
use constformer::{load::*, sampling::argmax, *};
use safetensors::{Dtype, tensor::TensorView};
use std::{collections::BTreeMap, path::PathBuf};

type Sorter = LanguageModel<TextEmbedding<3, 48, 11>, Decoder<Gpt2, 3, 48, 192, 3>, 48, 3, Linear<48, 3, f32, NoBias>>;

/// The model. The file lacks the biases of query, key and value; `tests/reference/gpt_nano_sort.py` tells how they were found.
fn sorter() -> Option<Boxed<Sorter>> {
    let folder = PathBuf::from(std::env::var_os("CONSTFORMER_MODELS")?);
    let path = folder.join("gpt_nano_sort/gpt_nano_sort.safetensors");
    let mut model = boxed::<Sorter>();
    let error = match Checkpoint::open(&path).unwrap().load::<MinGpt>(&mut *model) {
        Ok(()) => return Some(model),
        Err(LoadError::Tensors { faults, .. }) => faults,
        Err(other) => panic!("{other}"),
    };
    let is_bias = |fault: &Fault| matches!(fault, Fault::Missing { origin, .. } if origin.ends_with("c_attn.bias"));
    assert!(error.len() == 9 && error.iter().all(is_bias));
    println!("the file has no biases of query, key and value; they come from tests/golden");
    let biases = Golden::open("gpt_nano_sort_biases.safetensors");
    let bytes = |values: &Values| values.numbers.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect::<Vec<_>>();
    let stored: Vec<_> =
        biases.tensors.iter().map(|(name, values)| (name, values.shape.clone(), bytes(values))).collect();
    let views =
        stored.iter().map(|(name, shape, bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    let rest = safetensors::serialize(views, None).unwrap();
    Checkpoint::from_shards([std::fs::read(path).unwrap(), rest]).unwrap().load::<MinGpt>(&mut *model).unwrap();
    Some(model)
}

/// The golden tensor for each activation, of block 0 where it is one of a block.
const NAMES: [(&str, &str); 17] = [
    ("embedding", "x"),
    ("decoder.blocks.0.attention_norm", "ln1"),
    ("decoder.blocks.0.attention.query", "qkv 0"),
    ("decoder.blocks.0.attention.key", "qkv 1"),
    ("decoder.blocks.0.attention.value", "qkv 2"),
    ("decoder.blocks.0.attention.context", "y"),
    ("decoder.blocks.0.attention", "yProj"),
    ("decoder.blocks.0.attention_residual", "attnResid"),
    ("decoder.blocks.0.feed_forward_norm", "ln2"),
    ("decoder.blocks.0.feed_forward.inner", "fc"),
    ("decoder.blocks.0.feed_forward.hidden", "gelu"),
    ("decoder.blocks.0.feed_forward", "mlp"),
    ("decoder.blocks.0.feed_forward_residual", "mlpResid"),
    ("decoder.blocks.0", "block0"),
    ("decoder.blocks.1", "block1"),
    ("decoder.blocks.2", "block2"),
    ("decoder.norm", "ln_f"),
];

#[test]
fn every_intermediate() {
    let Some(model) = sorter() else { return println!("skipped: CONSTFORMER_MODELS is not set") };
    let mut golden = Golden::model("gpt_nano_sort/gpt_nano_sort_golden.safetensors").unwrap();
    // Query, key and value of all heads; those of each are the same numbers in another order.
    let qkv = golden.take("qkv").rows::<144>();
    for (i, name) in ["q", "k", "v"].into_iter().enumerate() {
        let part: Vec<f64> = qkv.iter().flat_map(|row| &row[48 * i..48 * (i + 1)]).map(|x| f64::from(*x)).collect();
        let heads = golden.take(name).numbers; // [text, head, token, 16]
        for (place, x) in heads.iter().enumerate() {
            let [text, head, token, column] = [place / 528, place / 176 % 3, place / 16 % 11, place % 16];
            assert_eq!(*x, part[(text * 11 + token) * 48 + head * 16 + column]);
        }
        golden.tensors.insert(format!("qkv {i}"), Values { shape: vec![3, 11, 48], numbers: part });
    }
    let ids = golden.take("idx").rows::<11>();
    let mut memory = boxed::<Memory<Sorter, 11, 4>>(); // three tiles
    let mut seen = BTreeMap::<String, Vec<f32>>::new();
    let mut heads = BTreeMap::<(String, usize, usize), Vec<f32>>::new();
    let (mut tokens, mut logits) = (vec![], vec![]);
    for (text, ids) in ids.iter().enumerate() {
        let ids = ids.map(|id| id as u32);
        let mut embedded = Sequence::<48, 11>::new();
        model.embedding.tokens.forward(&ids, &mut embedded).unwrap();
        tokens.extend_from_slice(embedded.tokens().as_flattened());
        let mut last = [0.0; 3];
        let mut observer = |name: &Name<'_>, token: usize, values: &[f32]| {
            let name = name.to_string();
            if name.contains(".scores.") || name.contains(".weights.") {
                heads.insert((name, text, token), values.to_vec());
            } else {
                seen.entry(name).or_default().extend_from_slice(values);
            }
        };
        model.observe(&ids, &mut memory, &mut last, &mut observer).unwrap();
        let mut unobserved = [0.0; 3];
        let observed = memory.stream.clone();
        model.forward(&ids, &mut memory, &mut unobserved).unwrap();
        assert!(last == unobserved && observed == memory.stream, "the same bits");
        for token in memory.stream.tokens() {
            let mut all = [0.0; 3];
            model.logits(token, &mut all);
            logits.extend(all);
        }
    }

    let mut worst = 0.0;
    let mut check = |what: &str, found: &[f32], expected: Vec<f64>| {
        let error = common::max_error(found, expected);
        assert!(error < 1e-4, "{what}: {error:e}");
        worst = common::larger(error, worst);
    };
    check("tok_emb", &tokens, golden.take("tok_emb").numbers);
    check("pos_emb", model.embedding.positions.weight.rows.as_flattened(), golden.take("pos_emb").numbers);
    for (ours, theirs) in NAMES {
        check(ours, &seen[ours], golden.take(theirs).numbers);
    }
    let probabilities = logits.chunks(3).flat_map(|row| {
        let sum: f32 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(move |x| x.exp() / sum)
    });
    check("probs", &probabilities.collect::<Vec<_>>(), golden.take("probs").numbers);
    check("lm_head", &logits, golden.take("lm_head").numbers);
    // [text, head, query, key]
    for (ours, theirs) in [("scores", "att"), ("weights", "attSm")] {
        for (row, expected) in golden.take(theirs).numbers.chunks(11).enumerate() {
            let (text, head, query) = (row / 33, row / 11 % 3, row % 11);
            let found = &heads[&(format!("decoder.blocks.0.attention.{ours}.{head}"), text, query)];
            check(ours, found, expected[..=query].to_vec());
            assert!(expected[query + 1..].iter().all(|x| *x == 0.0 || *x == f64::NEG_INFINITY), "not seen");
        }
    }
    println!("every intermediate within {worst:.1e}");
    assert!(golden.tensors.is_empty(), "{:?}", golden.tensors.keys());
}

#[test]
fn every_input_is_sorted() {
    let Some(model) = sorter() else { return println!("skipped: CONSTFORMER_MODELS is not set") };
    let (mut memory, mut cached) = (boxed::<Memory<Sorter, 11>>(), boxed::<CachedMemory<Sorter, 11>>());
    let mut sorted = 0;
    for n in 0..729 {
        let mut ids: Vec<u32> = (0..6).map(|digit| n / 3u32.pow(digit) % 3).collect();
        cached.cache.reset();
        for _ in 0..6 {
            let (mut logits, mut with_cache) = ([0.0; 3], [0.0; 3]);
            model.forward(&ids, &mut memory, &mut logits).unwrap();
            model.extend(&ids[cached.cache.len()..], &mut cached, &mut with_cache).unwrap();
            assert_eq!(logits, with_cache, "the same bits");
            ids.push(argmax(&logits).unwrap());
        }
        let mut expected = ids[..6].to_vec();
        expected.sort_unstable();
        sorted += usize::from(ids[6..] == expected);
    }
    println!("{sorted} of 729 sorted");
    assert_eq!(sorted, 729);
}
