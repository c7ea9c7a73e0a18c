//! all-MiniLM-L6-v2 as it is published, on a hundred sentences: none, one word, 256 tokens, many scripts.
//!
//! `CONSTFORMER_MINILM` is the folder with its `model.safetensors` and `config.json`; `.ci/run` fetches it.

mod common;

use common::golden::Golden;
use constformer::{load::*, *};
use std::{fs, path::Path};

type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
const SEQ_LEN: usize = 256;

fn load(folder: &Path) -> Boxed<MiniLm> {
    check_config::<MiniLm>(&fs::read(folder.join("config.json")).unwrap()).unwrap();
    let mut model = boxed::<MiniLm>();
    let start = std::time::Instant::now();
    Checkpoint::open(folder).unwrap().load::<HuggingFaceBert>(&mut *model).unwrap();
    println!("loaded in {:.1?}", start.elapsed());
    model
}

/// The token ids of the sentences.
fn sentences(golden: &mut Golden) -> Vec<Vec<u32>> {
    let ids = |k| golden.take(&format!("input.{k}")).numbers.iter().map(|id| *id as u32).collect();
    (0..100).map(ids).collect()
}

#[test]
fn a_hundred_sentences_as_pytorch() {
    let Some(folder) = common::mini_lm() else { return };
    let model = load(&folder);
    let mut golden = Golden::open("minilm.safetensors");
    let (embeddings, hidden) = (golden.take("embeddings").rows::<384>(), golden.take("hidden").rows::<384>());
    let mut memory = boxed::<Memory<MiniLm, SEQ_LEN>>();
    let [mut embedding_error, mut hidden_error] = [0.0; 2];
    let mut least_cosine = 1.0f32;
    let sentences = sentences(&mut golden);
    assert_eq!(
        (sentences[0].len(), sentences.iter().map(Vec::len).max()),
        (2, Some(256)),
        "[CLS] [SEP] is the shortest"
    );
    for (k, (ids, expected)) in sentences.iter().zip(&embeddings).enumerate() {
        let found = model.hidden(ids, &mut memory).unwrap();
        for (row, expected) in [0, ids.len() / 2, ids.len() - 1].iter().zip(&hidden[3 * k..]) {
            let expected = expected.iter().copied().map(f64::from);
            hidden_error = common::larger(hidden_error, common::max_error(&found[*row], expected));
        }
        let mut found = model.forward(ids, &mut memory).unwrap();
        let cosine = cosine(&found, expected);
        assert!(cosine >= 0.999_999, "sentence {k}: cosine {cosine}");
        least_cosine = least_cosine.min(cosine);
        normalize(&mut found);
        let error = common::max_error(&found, expected.iter().copied().map(f64::from));
        embedding_error = common::larger(embedding_error, error);
    }
    println!(
        "100 sentences: embeddings within {embedding_error:.1e}, hidden states within {hidden_error:.1e}, \
         cosines at least {least_cosine:.7}"
    );
    assert!(embedding_error < 1e-5 && hidden_error < 1e-4);
}

/// Of 2 to 256 tokens each, bit for bit.
#[test]
fn a_batch_of_mixed_lengths_equals_its_sentences() {
    let Some(folder) = common::mini_lm() else { return };
    let model = load(&folder);
    let sentences = sentences(&mut Golden::open("minilm.safetensors"));
    let mut memory = boxed::<Memory<MiniLm, SEQ_LEN>>();
    let mut batch: Vec<Sequence<384, SEQ_LEN>> = sentences
        .iter()
        .map(|ids| {
            let mut x = Sequence::new();
            model.embedding.forward(ids, &mut x).unwrap();
            x
        })
        .collect();
    model.encoder.forward_batch(&mut batch, &mut memory.scratch);
    for (k, (ids, x)) in sentences.iter().zip(&mut batch).enumerate() {
        let single = model.hidden(ids, &mut memory).unwrap();
        assert!(bits(single.as_flattened()).eq(bits(x.tokens().as_flattened())), "sentence {k}");
        let single = model.forward(ids, &mut memory).unwrap();
        assert!(bits(&single).eq(bits(&Mean::pool(x).unwrap())), "sentence {k}");
    }
}

fn bits(x: &[f32]) -> impl Iterator<Item = u32> {
    x.iter().map(|x| x.to_bits())
}

/// Sentences that mean the same are nearer than those that do not.
#[test]
fn meaning() {
    let Some(folder) = common::mini_lm() else { return };
    let model = load(&folder);
    let mut golden = Golden::open("minilm.safetensors");
    let about: serde_json::Value = serde_json::from_str(&golden.reference).unwrap();
    let texts: Vec<_> = about["sentences"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let ids = sentences(&mut golden);
    let mut memory = boxed::<Memory<MiniLm, SEQ_LEN>>();
    let mut of = |text: &str| {
        let k = texts.iter().position(|other| *other == text).unwrap();
        model.forward(&ids[k], &mut memory).unwrap()
    };
    let cat = of("A cat sits on the mat.");
    let near = cosine(&cat, &of("A kitten is resting on a rug."));
    let far = cosine(&cat, &of("The stock market fell sharply on Monday."));
    println!("cat and kitten {near:.3}, cat and market {far:.3}");
    assert!(near > 0.5 && far < 0.2);
}
