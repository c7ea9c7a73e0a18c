//! Decoders against PyTorch and transformers, and their caches against no cache.

mod common;

use common::{
    golden::{Golden, Values},
    random::Random,
};
use constformer::*;

common::families! {
    PostRelu: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    PreGelu: PreLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    PostGelu: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final LayerNorm<D_MODEL>;
    PreRelu: PreLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final LayerNorm<D_MODEL>;
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// PyTorch's names of a decoder become ours.
fn from_torch(mut golden: Golden) -> Golden {
    const NAMES: [(&str, &str); 7] = [
        ("layers.", "blocks."),
        ("norm1", "self_attention_norm"),
        ("norm2", "cross_attention_norm"),
        ("norm3", "feed_forward_norm"),
        ("linear1", "feed_forward.inner"),
        ("linear2", "feed_forward.outer"),
        ("out_proj", "output"),
    ];
    for (name, values) in std::mem::take(&mut golden.tensors) {
        let name = NAMES.iter().fold(name, |name, (theirs, ours)| name.replace(theirs, ours));
        let name = name.replace("self_attn", "self_attention").replace("multihead_attn", "cross_attention");
        if let Some((attention, kind)) = name.split_once("in_proj_") {
            for (projection, part) in ["query", "key", "value"].iter().zip(values.thirds()) {
                golden.tensors.insert(format!("{attention}{projection}.{kind}"), part);
            }
        } else {
            golden.tensors.insert(name, values);
        }
    }
    golden
}

/// Every pair of lengths; the target at once and in two parts.
fn check_decoder<F: Family>(decoder: Golden, cases: &Golden) {
    let mut model = boxed::<CrossDecoder<F, 2, 21, 35, 3>>();
    from_torch(decoder).load(&mut *model).unwrap();
    let mut source = boxed::<Source<2, 21, 17>>();
    let mut cache = boxed::<Cache<2, 21, 13>>();
    let mut scratch = boxed::<CrossScratch<21, 35, 13, 17, 3>>();
    for k in 0..6 {
        let take = |name: &str| cases.tensors[&format!("{name}.{k}")].rows::<21>();
        let (memory, target, expected) = (take("memory"), take("tgt"), take("output"));
        let (mut encoded, mut x) = (Sequence::<21, 17>::new(), Sequence::<21, 13>::new());
        encoded.assign(&memory).unwrap();
        x.assign(&target).unwrap();
        model.attend_to(&encoded, &mut source);
        cache.reset();
        model.extend(&mut x, &source, &mut cache, &mut scratch).unwrap();
        let error = distance(x.tokens().as_flattened(), expected.as_flattened());
        assert!(error < 2e-5, "lengths {k}: {error:e}");

        cache.reset();
        let mut parts = vec![];
        for part in target.chunks(5) {
            let mut x = Sequence::<21, 5>::new();
            x.assign(part).unwrap();
            model.extend(&mut x, &source, &mut cache, &mut scratch).unwrap();
            parts.extend_from_slice(x.tokens());
        }
        assert_eq!(parts, x.tokens(), "bit for bit");
    }
}

#[test]
fn torch_decoders() {
    let mut golden = Golden::open("torch_transformer.safetensors");
    let mut split = |case: &str| {
        let mut cases = golden.part(&format!("{case}."));
        let mut decoder = cases.part("decoder.");
        if decoder.tensors.is_empty() {
            decoder = cases.part("layers.");
            decoder.tensors =
                decoder.tensors.into_iter().map(|(name, values)| (format!("layers.{name}"), values)).collect();
            for (name, values) in cases.part("norm.").tensors {
                decoder.tensors.insert(format!("norm.{name}"), values);
            }
        }
        (decoder, cases)
    };
    let (decoder, cases) = split("decoder_post");
    check_decoder::<PostRelu>(decoder, &cases);
    let (decoder, cases) = split("decoder_pre");
    check_decoder::<PreGelu>(decoder, &cases);
    let (decoder, cases) = split("transformer_post");
    check_decoder::<PostGelu>(decoder, &cases);
    let (decoder, cases) = split("transformer_pre");
    check_decoder::<PreRelu>(decoder, &cases);
}

/// Source and target through encoder and decoder.
#[test]
fn torch_transformers() {
    fn check<F: Family>(case: &str) {
        let mut cases = Golden::open("torch_transformer.safetensors").part(&format!("{case}."));
        let mut encoder = boxed::<Encoder<F, 2, 21, 35, 3>>();
        cases.part("encoder.").from_torch().load(&mut *encoder).unwrap();
        let mut memory = boxed::<Memory<Encoder<F, 2, 21, 35, 3>, 13>>();
        for k in 0..6 {
            let Working { stream, scratch } = &mut *memory;
            stream.assign(&cases.tensors[&format!("src.{k}")].rows()).unwrap();
            encoder.forward(stream, scratch);
            let expected = cases.tensors[&format!("memory.{k}")].rows::<21>();
            let error = distance(stream.tokens().as_flattened(), expected.as_flattened());
            assert!(error < 2e-5, "{case}, lengths {k}: {error:e}");
        }
    }
    check::<PostGelu>("transformer_post");
    check::<PreRelu>("transformer_pre");
}

/// A source of no tokens has a context of zeros, not NaN.
#[test]
fn no_source() {
    let mut model = boxed::<CrossDecoder<PostRelu, 2, 21, 35, 3>>();
    Random(3).fill(&mut *model);
    let (source, mut cache) = (boxed::<Source<2, 21, 17>>(), boxed::<Cache<2, 21, 13>>());
    let mut x = Sequence::<21, 2>::from(nalgebra::SMatrix::from_fn(|i, j| (i + j) as f32));
    model.extend(&mut x, &source, &mut cache, &mut boxed::<CrossScratch<21, 35, 13, 17, 3>>()).unwrap();
    assert!(x.tokens().as_flattened().iter().all(|x| x.is_finite()));
}

/// Llama of transformers, with grouped heads: its rotation splits heads in halves, and its norms have an ε of 1e-5 or 1e-6.
#[test]
fn llama() {
    check_llama::<typenum::U5>("llama", 4);
    check_llama::<typenum::U6>("llama_tied", 3);
}

fn check_llama<E: Exponent + Copy>(case: &str, count: usize) {
    const NAMES: [(&str, &str); 10] = [
        ("layers.", "blocks."),
        ("self_attn.q_proj", "attention.query"),
        ("self_attn.k_proj", "attention.key"),
        ("self_attn.v_proj", "attention.value"),
        ("self_attn.o_proj", "attention.output"),
        ("input_layernorm", "attention_norm"),
        ("post_attention_layernorm", "feed_forward_norm"),
        ("mlp.gate_proj", "feed_forward.gate"),
        ("mlp.up_proj", "feed_forward.inner"),
        ("mlp.down_proj", "feed_forward.outer"),
    ];
    let mut golden = Golden::open("transformers_models.safetensors").part(&format!("{case}."));
    let mut weights = golden.part("model.");
    let table = weights.take("embed_tokens.weight").rows::<24>();
    let head = golden.tensors.get("lm_head.weight").map_or_else(|| table.clone(), Values::rows);
    weights.tensors = std::mem::take(&mut weights.tensors)
        .into_iter()
        .map(|(name, values)| (NAMES.iter().fold(name, |name, (theirs, ours)| name.replace(theirs, ours)), values))
        .collect();
    let mut model = boxed::<Decoder<Llama<HalfSplit, E>, 2, 24, 37, 6, f32, 2, 8>>();
    weights.load(&mut *model).unwrap();
    for k in 0..count {
        let ids = &golden.tensors[&format!("input.{k}")].numbers;
        let mut x = Sequence::<24, 31>::new();
        for id in ids {
            x.push(&table[*id as usize]).unwrap();
        }
        let mut cached = x.clone();
        model.forward(&mut x, &mut boxed::<Scratch<24, 37, 31, 4, 8>>());
        let mut cache = boxed::<Cache<2, 8, 31>>();
        model.extend(&mut cached, &mut cache, &mut boxed::<TileScratch<24, 37, 31, 5>>()).unwrap();
        assert!(cached == x, "bit for bit");
        let logits: Vec<f32> = x
            .tokens()
            .iter()
            .flat_map(|x| head.iter().map(|w| x.iter().zip(w).map(|(x, w)| x * w).sum::<f32>()))
            .collect();
        let error = distance(&logits, &golden.tensors[&format!("logits.{k}")].to_f32());
        println!("{case} {k}: {error:.1e}");
        assert!(error < 1e-4);
    }
}

/// Any way of cutting a text gives the same bits, whatever the capacity and the tile.
#[test]
fn cached_equals_full() {
    fn check<F: Family<Mask = Causal>>() {
        let mut model = boxed::<Decoder<F, 2, 30, 13, 5, f32, 1, 6>>();
        Random(5).fill(&mut *model);
        let tokens = Random(7).tokens::<30>(11);
        let mut full = Sequence::<30, 11>::new();
        full.assign(&tokens).unwrap();
        model.forward(&mut full, &mut boxed::<Scratch<30, 13, 11, 4, 6>>());

        let mut cache = boxed::<Cache<2, 6, 19>>();
        let mut scratch = boxed::<TileScratch<30, 13, 19, 3>>();
        for cut in [1, 2, 5, 7, 11] {
            cache.reset();
            let mut parts = vec![];
            for part in tokens.chunks(cut) {
                let mut x = Sequence::<30, 11>::new();
                x.assign(part).unwrap();
                model.extend(&mut x, &mut cache, &mut scratch).unwrap();
                parts.extend_from_slice(x.tokens());
            }
            assert_eq!(parts, full.tokens(), "{cut} at a time");
            assert_eq!((cache.len(), cache.position()), (11, 11));

            // Back to the third token, and on again.
            cache.rewind(3).unwrap();
            let mut x = Sequence::<30, 11>::new();
            x.assign(&tokens[3..]).unwrap();
            model.extend(&mut x, &mut cache, &mut scratch).unwrap();
            assert_eq!(x.tokens(), &full.tokens()[3..]);
        }
    }
    check::<Gpt2>();
    check::<Llama>();
    check::<Llama<HalfSplit>>();
}

/// Grouped heads that are not grouped are multi-head attention, bit for bit, and have its fingerprint.
#[test]
fn one_group_a_head_is_multi_head_attention() {
    let (mut decoder, mut encoder) = (boxed::<Decoder<Gpt2, 2, 21, 13, 7>>(), boxed::<Encoder<Gpt2, 2, 21, 13, 7>>());
    Random(11).fill(&mut *decoder);
    Random(11).fill(&mut *encoder);
    let mut x = Sequence::<21, 11>::new();
    x.assign(&Random(2).tokens(9)).unwrap();
    let mut y = x.clone();
    decoder.forward(&mut x, &mut boxed::<Scratch<21, 13, 11, 4>>());
    encoder.forward(&mut y, &mut boxed::<Scratch<21, 13, 11, 4>>());
    assert!(x == y);
    assert_eq!(Decoder::<Gpt2, 2, 21, 13, 7>::FINGERPRINT, Encoder::<Gpt2, 2, 21, 13, 7>::FINGERPRINT);
    assert_ne!(Decoder::<Llama, 2, 24, 13, 6>::FINGERPRINT, Decoder::<Llama<HalfSplit>, 2, 24, 13, 6>::FINGERPRINT,);
}

/// With rotary positions only distances matter: a window that has let go of tokens is as if they had never been, but for
/// rounding.
#[test]
fn a_sliding_window() {
    let mut model = boxed::<Decoder<Llama, 1, 24, 13, 6, f32, 2, 8>>();
    Random(13).fill(&mut *model);
    let tokens = Random(17).tokens::<24>(9);
    let run = |cache: &mut Cache<1, 8, 9>, tokens: &[[f32; 24]]| {
        let mut x = Sequence::<24, 9>::new();
        x.assign(tokens).unwrap();
        model.extend(&mut x, cache, &mut boxed::<TileScratch<24, 13, 9, 4>>()).unwrap();
        x.tokens().last().copied().unwrap()
    };
    let mut window = boxed::<Cache<1, 8, 9>>();
    run(&mut window, &tokens[..8]);
    window.let_go(3);
    assert_eq!((window.len(), window.position()), (5, 8));
    let slid = run(&mut window, &tokens[8..]);
    let fresh = run(&mut boxed(), &tokens[3..]); // of one layer, keys and values do not depend on what came before
    assert!(distance(&slid, &fresh) < 1e-5, "{}", distance(&slid, &fresh));
}

/// Heads of 40 columns: more than one strip on any machine.
#[test]
fn there_is_nothing_to_see_in_a_source_of_no_tokens() {
    let mut model = boxed::<CrossDecoder<Vaswani, 1, 80, 13, 2>>();
    Random(1).fill(&mut *model);
    let mut source = boxed::<Source<1, 80, 3>>();
    model.attend_to(&Sequence::new(), &mut source);
    let mut x = Sequence::<80, 7>::new();
    x.assign(&Random(2).tokens(5)).unwrap();
    let mut seen = 0;
    let mut context = |name: &Name<'_>, _: usize, values: &[f32]| {
        if name.to_string().ends_with("cross_attention.context") {
            assert_eq!(values, [0.0; 80]);
            seen += 1;
        }
    };
    let (mut cache, mut scratch) = (boxed::<Cache<1, 80, 7>>(), boxed::<CrossScratch<80, 13, 7, 3, 4>>());
    model.observe(&mut x, &source, &mut cache, &mut scratch, &Name::ROOT, &mut context).unwrap();
    assert_eq!(seen, 5);
}

#[test]
fn a_full_cache_is_an_error_and_stays_as_it_was() {
    let mut model = boxed::<Decoder<Gpt2, 2, 21, 13, 7>>();
    Random(1).fill(&mut *model);
    let mut cache = boxed::<Cache<2, 21, 3>>();
    let mut scratch = boxed::<TileScratch<21, 13, 3, 4>>();
    let mut x = Sequence::<21, 4>::new();
    x.assign(&Random(2).tokens(2)).unwrap();
    model.extend(&mut x, &mut cache, &mut scratch).unwrap();
    let before = x.clone();
    assert_eq!(model.extend(&mut x, &mut cache, &mut scratch), Err(TooLong { capacity: 3, found: 4 }));
    assert!(x == before && cache.len() == 2);
    assert_eq!(cache.rewind(3), Err(TooLong { capacity: 2, found: 3 }));
    cache.let_go(7);
    assert!(cache.is_empty());
}
