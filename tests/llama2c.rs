//! llama2.c's checkpoints: stories260K tells its story again, and files that are none are errors.

mod common;

use constformer::{load::*, sampling::argmax, tokenizer, *};
use std::{fs, path::PathBuf};

type Llm<L, const D_MODEL: usize, const VOCABULARY: usize, H = Tied> =
    LanguageModel<TokenEmbedding<VOCABULARY, D_MODEL>, L, D_MODEL, VOCABULARY, H>;

/// 5 layers, 64 features, 172 in the feed-forward layer, 8 heads on 4 of keys and values; 512 tokens.
type Stories = Llm<Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;

// --- stories260K -----------------------------------------------------------------------------------------------------

fn file(name: &str) -> Option<Vec<u8>> {
    let Ok(folder) = std::env::var("CONSTFORMER_MODELS") else {
        println!("skipped: CONSTFORMER_MODELS is not set");
        return None;
    };
    Some(fs::read(PathBuf::from(folder).join("stories260K").join(name)).unwrap())
}

/// What 200 steps say, the most probable token each.
fn story(mut next: impl FnMut(&[u32]) -> u32) -> Vec<u8> {
    let file = file("tok512.bin").unwrap();
    let vocabulary = tokenizer::Vocabulary::<512>::parse(&file).unwrap();
    let (mut ids, mut text) = (vec![tokenizer::Vocabulary::<512>::BOS], vec![]);
    for _ in 0..200 {
        let id = next(&ids);
        text.extend_from_slice(vocabulary.decode(*ids.last().unwrap(), id).unwrap());
        ids.push(id);
    }
    text.push(b'\n'); // as the program ends
    text
}

#[test]
fn the_story_without_a_cache() {
    let Some(checkpoint) = file("stories260K.bin") else { return };
    let mut model = boxed::<Stories>();
    llama2c(&checkpoint, &mut *model).unwrap();
    assert_eq!(Stories::COUNT, 260_032);
    let mut memory = boxed::<Memory<Stories, 200>>();
    let mut logits = [0.0; 512];
    let text = story(|ids| {
        model.forward(ids, &mut memory, &mut logits).unwrap();
        argmax(&logits).unwrap()
    });
    assert!(text == file("golden_greedy_200.txt").unwrap(), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn the_story_with_a_cache() {
    let Some(checkpoint) = file("stories260K.bin") else { return };
    let mut model = boxed::<Stories>();
    llama2c(&checkpoint, &mut *model).unwrap();
    let golden = file("golden_greedy_200.txt").unwrap();
    let mut memory = boxed::<CachedMemory<Stories, 200>>();
    let mut logits = [0.0; 512];
    let text = story(|ids| {
        model.extend(&ids[memory.cache.len()..], &mut memory, &mut logits).unwrap();
        argmax(&logits).unwrap()
    });
    assert!(text == golden, "{}", String::from_utf8_lossy(&text));

    // On a microcontroller: little by little.
    let mut memory = boxed::<CachedMemory<Stories, 200, 1>>();
    let again = story(|ids| {
        model.extend(&ids[memory.cache.len()..], &mut memory, &mut logits).unwrap();
        argmax(&logits).unwrap()
    });
    assert!(again == golden);
}

// --- files of a test's own --------------------------------------------------------------------------------------------

type Tiny<const HEADS: usize, const KV_HEADS: usize, H = Tied> =
    Llm<Decoder<Llama, 2, 6, 5, HEADS, f32, KV_HEADS, 6>, 6, 7, H>;
type Half = Llm<Decoder<Llama<HalfSplit, typenum::U6>, 2, 6, 5, 3, f32, 3, 6>, 6, 7>;
type Untied = Linear<6, 7, f32, NoBias>;

/// dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, max_seq_len of `Tiny<3, 3>`.
const HEADER: [i32; 7] = [6, 5, 2, 3, 3, 7, 11];

/// A file whose numbers are 0, 1, 2, ...
fn tiny(header: [i32; 7]) -> Vec<u8> {
    let [dim, hidden, layers, heads, kv_heads, vocabulary, positions] = header;
    let layer = dim + dim * dim + 2 * dim / heads * kv_heads * dim + dim * dim + dim + 3 * hidden * dim;
    let tables = 2 * positions * (dim / heads / 2);
    let tied = vocabulary.abs() * dim + layers * layer + dim + tables;
    let numbers = 0..if vocabulary > 0 { tied } else { tied - vocabulary * dim };
    let header = header.iter().flat_map(|n| n.to_le_bytes());
    header.chain(numbers.flat_map(|n| (n as f32).to_le_bytes())).collect()
}

/// Every number has one place, and all numbers but those of the tables of rotary positions are used.
#[test]
fn every_number_has_its_place() {
    let mut model = boxed::<Tiny<3, 3, Untied>>();
    let header = HEADER.map(|n| if n == 7 { -7 } else { n });
    llama2c(&tiny(header), &mut *model).unwrap();
    let (mut seen, mut firsts) = (vec![], std::collections::BTreeMap::new());
    model.for_each_tensor(|name, tensor| {
        let numbers: Vec<_> = tensor.row_major().map(|x| x as u32).collect();
        assert!(numbers.is_sorted(), "{name}");
        firsts.insert(name.to_string(), numbers[0]);
        seen.extend(numbers);
    });
    seen.sort_unstable();
    // Embedding, 2 of each: norm, 4 matrices, norm, 3 matrices; norm; (2 tables of 11;) head.
    let before_head = 42 + 2 * (6 + 4 * 36 + 6 + 3 * 30) + 6;
    assert!(seen.into_iter().eq((0..before_head).chain(before_head + 22..before_head + 22 + 42)));
    for (name, first) in [
        ("embedding.weight", 0),
        ("decoder.blocks.1.attention_norm.weight", 42 + 6),
        ("decoder.blocks.0.attention.query.weight", 42 + 12),
        ("decoder.blocks.1.attention.value.weight", 42 + 12 + 2 * 72 + 36),
        ("decoder.blocks.0.feed_forward.gate.weight", 42 + 12 + 4 * 72 + 12),
        ("decoder.blocks.0.feed_forward.outer.weight", 42 + 12 + 4 * 72 + 12 + 60),
        ("decoder.blocks.1.feed_forward.inner.weight", 42 + 12 + 4 * 72 + 12 + 120 + 30),
        ("head.weight", before_head + 22),
    ] {
        assert_eq!(firsts[name], first, "{name}");
    }

    // A head that is the embedding can be one of its own too.
    llama2c(&tiny(HEADER), &mut *model).unwrap();
    model.head.for_each_tensor(|_, head| {
        assert!(head.row_major().eq(model.embedding.weight.rows.as_flattened().iter().copied()));
    });
    let faults = llama2c(&tiny(header), &mut *boxed::<Tiny<3, 3>>()).unwrap_err().to_string();
    assert!(faults.ends_with(
        "\n  not tied: output.weight differs from tok_embeddings.weight, but the model has one matrix for both"
    ));
}

#[test]
fn headers_that_contradict_the_type() {
    let wrong = |file: &[u8]| llama2c(file, &mut *boxed::<Tiny<3, 3>>()).unwrap_err().to_string();
    let text = |lines: &str| format!("the header contradicts the type of the model:\n  {lines}");
    assert_eq!(
        wrong(&tiny([6, 5, 2, 1, 1, 7, 11])),
        text("heads: 3 expected, found 1\n  kv_heads: 3 expected, found 1")
    );
    assert_eq!(wrong(&tiny([6, 4, 3, 3, 3, 7, 11])), text("layers: 2 expected, found 3\n  d_ff: 5 expected, found 4"));
    assert_eq!(wrong(&tiny([6, 5, 2, 3, 3, 8, 11])), text("vocabulary: 7 expected, found 8"));

    // Another family than llama2.c's program has.
    let error = llama2c(&tiny(HEADER), &mut *boxed::<Half>()).unwrap_err().to_string();
    assert_eq!(error, text("epsilon: 1e-6 expected, found 1e-5\n  pairing: HalfSplit expected, found Interleaved"));
}

#[test]
fn files_that_are_none() {
    let file = tiny(HEADER);
    let mut model = boxed::<Tiny<3, 3>>();
    let mut error = |file: &[u8]| match llama2c(file, &mut *model).unwrap_err() {
        LoadError::Llama2c(error) => {
            assert!(model.embedding.weight.rows.as_flattened().iter().all(|x| *x == 0.0), "nothing is written");
            error
        }
        other => panic!("{other}"),
    };
    for len in 0..file.len() {
        let expected = if len < 28 { 28 } else { file.len() as u128 };
        assert_eq!(error(&file[..len]), Llama2cError::Length { expected, found: len });
    }
    let longer = [&file[..], &[0]].concat();
    assert_eq!(error(&longer), Llama2cError::Length { expected: file.len() as u128, found: file.len() + 1 });

    let keys = ["dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "max_seq_len"];
    for (i, key) in keys.into_iter().enumerate() {
        let mut with = |number: i32| {
            let mut file = file.clone();
            file[4 * i..4 * i + 4].copy_from_slice(&number.to_le_bytes());
            error(&file)
        };
        assert_eq!(with(0), Llama2cError::Size { key, found: 0 });
        for number in [-1, i32::MIN] {
            if key == "vocab_size" {
                assert!(matches!(with(number), Llama2cError::Length { .. }));
            } else {
                assert_eq!(with(number), Llama2cError::Size { key, found: number });
            }
        }
        assert!(matches!(with(i32::MAX), Llama2cError::Length { .. } | Llama2cError::Heads { .. }), "{key}");
    }
    let huge = [i32::MAX; 7].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    assert!(matches!(error(&huge), Llama2cError::Length { found: 28, .. }));
    let mut odd = file.clone();
    odd[12] = 4;
    assert_eq!(
        error(&odd).to_string(),
        "not a llama2.c checkpoint, or damaged: n_heads that divide dim = 6 expected, found 4"
    );

    odd[12] = 6;
    odd[16] = 4;
    assert_eq!(
        error(&odd).to_string(),
        "not a llama2.c checkpoint, or damaged: n_kv_heads that divide n_heads = 6 expected, found 4"
    );
    odd[..4].copy_from_slice(&0x616b_3432_u32.to_le_bytes());
    assert_eq!(error(&odd), Llama2cError::Version);

    let mut nan = file;
    let place = nan.len() - 4 * 23; // the last of the final norm
    nan[place..place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let error = llama2c(&nan, &mut *model).unwrap_err().to_string();
    assert!(error.ends_with("\n  not finite: norm.weight: NaN at place 5, for decoder.norm.weight"), "{error}");
}
