//! An observer sees every activation by name, and changes nothing.

mod common;

use common::random::Random;
use constformer::*;
use std::collections::BTreeMap;

type Seen = BTreeMap<String, Vec<(usize, Vec<f32>)>>;

/// What is seen, by name: positions and numbers, in the order in which they came.
fn watch(seen: &mut Seen) -> impl FnMut(&Name<'_>, usize, &[f32]) {
    |name, token, values| seen.entry(name.to_string()).or_default().push((token, values.to_vec()))
}

fn filled<M: Parameters>(seed: u64) -> Boxed<M> {
    let mut model = boxed::<M>();
    Random(seed).fill(&mut *model);
    model
}

fn stream<const D_MODEL: usize, const SEQ_LEN: usize>(len: usize) -> Sequence<D_MODEL, SEQ_LEN> {
    let mut x = Sequence::new();
    x.resize(len).unwrap();
    for (i, x) in x.tokens_mut().as_flattened_mut().iter_mut().enumerate() {
        *x = (i as f32 * 0.7).sin();
    }
    x
}

fn names(prefix: &str, heads: usize, cross: bool, gated: bool) -> Vec<String> {
    let mut names = vec![];
    let mut attention = |name: &str, query_only: bool| {
        let inside = ["query", "key", "value", "context"].into_iter().map(String::from);
        let heads = (0..heads).flat_map(|h| [format!("scores.{h}"), format!("weights.{h}")]);
        let of_queries = |part: &String| !query_only || !["key", "value"].contains(&part.as_str());
        names.extend(inside.chain(heads).filter(of_queries).map(|part| format!("{name}.{part}")));
        names.extend(["", "_norm", "_residual"].map(|part| format!("{name}{part}")));
    };
    attention(if cross { "self_attention" } else { "attention" }, false);
    if cross {
        attention("cross_attention", true);
    }
    names.extend(["", ".inner", ".hidden", "_norm", "_residual"].map(|part| format!("feed_forward{part}")));
    names.extend(gated.then(|| "feed_forward.gate".into()));
    names.iter().map(|name| format!("{prefix}.{name}")).chain([prefix.into()]).collect()
}

/// Every part of every block is seen once for each token, and the outputs are the same bits.
macro_rules! check {
    ($layer:ty, $d:literal, $heads:literal, $gated:literal) => {{
        let model = filled::<$layer>(3);
        let mut scratch = boxed::<<$layer as Layer<$d>>::Scratch<11, 4>>();
        let mut seen = Seen::new();
        let (mut observed, mut x) = (stream::<$d, 11>(9), stream::<$d, 11>(9));
        model.forward(&mut x, &mut scratch);
        model.observe(&mut observed, &mut scratch, &Name::ROOT.field("stack"), &mut watch(&mut seen));
        assert_eq!(observed, x);
        let mut expected = vec!["stack.norm".to_string()];
        for block in 0..2 {
            expected.extend(names(&format!("stack.blocks.{block}"), $heads, false, $gated));
        }
        expected.sort();
        assert_eq!(seen.keys().cloned().collect::<Vec<_>>(), expected);
        for (name, rows) in &seen {
            assert!(rows.iter().map(|(token, _)| *token).eq(0..9), "{name}");
        }
        let last = seen["stack.norm"].iter().map(|(_, row)| &row[..]);
        assert!(last.eq(x.tokens().iter().map(|row| &row[..])));
        seen
    }};
}

fn rows<'s>(seen: &'s Seen, name: &str) -> impl Iterator<Item = f32> + use<'s> {
    seen[name].iter().flat_map(|(_, row)| row).copied()
}

#[test]
fn pre_ln_bidirectional() {
    let seen = check!(Encoder<Vit, 2, 21, 13, 3>, 21, 3, false);
    for block in ["stack.blocks.0", "stack.blocks.1"] {
        let of = |part: &str| rows(&seen, &format!("{block}.{part}")).collect::<Vec<_>>();
        // The stream after a sub-layer is that before it and the sub-layer's output.
        let before_ff = of("attention_residual");
        let output = of("feed_forward");
        let sums: Vec<_> = before_ff.iter().zip(&output).map(|(a, b)| a + b).collect();
        assert_eq!(of("feed_forward_residual"), sums);
        assert_eq!(rows(&seen, block).collect::<Vec<_>>(), sums);
        for head in 0..3 {
            for (_, row) in &seen[&format!("{block}.attention.weights.{head}")] {
                assert!(row.len() == 9 && (row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            }
        }
        // The context of a head is its weights times its values.
        let (values, context) = (of("attention.value"), of("attention.context"));
        for (token, weights) in &seen[&format!("{block}.attention.weights.1")] {
            for column in 7..14 {
                let sum: f32 = weights.iter().enumerate().map(|(key, w)| w * values[key * 21 + column]).sum();
                assert!((sum - context[token * 21 + column]).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn post_ln_bidirectional() {
    let seen = check!(Encoder<Bert, 2, 21, 13, 3>, 21, 3, false);
    assert!(rows(&seen, "stack.blocks.0.feed_forward_norm").eq(rows(&seen, "stack.blocks.0")));
    assert!(rows(&seen, "stack.norm").eq(rows(&seen, "stack.blocks.1")), "which has no final norm");
}

#[test]
fn causal_grouped_gated() {
    let seen = check!(Decoder<Llama, 2, 24, 13, 6, f32, 2, 8>, 24, 6, true);
    assert_eq!(seen["stack.blocks.1.attention.key"][0].1.len(), 8);
    for (token, row) in &seen["stack.blocks.1.attention.scores.5"] {
        assert_eq!(row.len(), token + 1, "a token sees itself and those before it");
    }
    // SwiGLU: silu(gate) inner.
    let [gate, inner, hidden] =
        ["gate", "inner", "hidden"].map(|part| rows(&seen, &format!("stack.blocks.0.feed_forward.{part}")));
    for ((gate, inner), hidden) in gate.zip(inner).zip(hidden) {
        assert!((gate / (1.0 + (-gate).exp()) * inner - hidden).abs() < 1e-5);
    }
}

#[test]
fn decoders_with_cross_attention() {
    let model = filled::<CrossDecoder<Vaswani, 2, 21, 13, 3>>(5);
    let mut source = boxed::<Source<2, 21, 7>>();
    model.attend_to(&stream::<21, 7>(5), &mut source);
    let (mut cache, mut scratch) = (boxed::<Cache<2, 21, 11>>(), boxed::<CrossScratch<21, 13, 11, 7, 2>>());
    let mut unobserved = vec![];
    for len in [4, 3] {
        let mut x = stream::<21, 4>(len);
        model.extend(&mut x, &source, &mut cache, &mut scratch).unwrap();
        unobserved.extend_from_slice(x.tokens());
    }
    cache.reset();
    let (mut seen, mut observed) = (Seen::new(), vec![]);
    for len in [4, 3] {
        let mut x = stream::<21, 4>(len);
        let observer = &mut watch(&mut seen);
        model.observe(&mut x, &source, &mut cache, &mut scratch, &Name::ROOT.field("decoder"), observer).unwrap();
        observed.extend_from_slice(x.tokens());
    }
    assert_eq!(observed, unobserved);
    let mut expected = vec!["decoder.norm".to_string()];
    for block in 0..2 {
        expected.extend(names(&format!("decoder.blocks.{block}"), 3, true, false));
    }
    expected.sort();
    assert_eq!(seen.keys().cloned().collect::<Vec<_>>(), expected);
    for (name, rows) in &seen {
        assert!(rows.iter().map(|(token, _)| *token).eq(0..7), "{name}");
    }
    assert!(seen["decoder.blocks.1.cross_attention.weights.2"].iter().all(|(_, row)| row.len() == 5));
    assert_eq!(seen["decoder.blocks.1.self_attention.weights.2"][6].1.len(), 7);
}

/// A layer of one's own shows its output.
#[test]
fn a_layer_of_ones_own() {
    model! {
        struct Double { none: [f32; 0] }
    }
    impl Model for Double {
        type Memory<const SEQ_LEN: usize, const TILE: usize> = Working<2, SEQ_LEN, Sequence<2, 0>>;
        const MACS: Macs = Macs::per_token(2);
    }
    impl Layer<2> for Double {
        type Stream = f32;
        type Scratch<const SEQ_LEN: usize, const TILE: usize> = Sequence<2, 0>;

        fn forward<const SEQ_LEN: usize, const TILE: usize>(
            &self,
            x: &mut Sequence<2, SEQ_LEN>,
            _: &mut Sequence<2, 0>,
        ) {
            x.tokens_mut().as_flattened_mut().iter_mut().for_each(|x| *x *= 2.0);
        }
    }
    static STACK: [Double; 2] = Zero::ZERO;
    let mut x = Sequence::<2, 3>::new();
    x.push(&[1.0, 3.0]).unwrap();
    let mut seen = Seen::new();
    Layer::<2>::observe::<3, 1, _>(&STACK, &mut x, &mut Sequence::new(), &Name::ROOT, &mut watch(&mut seen));
    assert_eq!(seen["0"], [(0, vec![2.0, 6.0])]);
    assert_eq!(seen["1"], [(0, vec![4.0, 12.0])]);
}

/// Whole models: what goes in, and what comes out.
#[test]
fn models() {
    type Text = TextEncoder<BertEmbedding<7, 6, 5>, Encoder<Bert, 1, 6, 5, 2>, 6>;
    type Digits = Classifier<PatchEmbedding<4, 6, 5>, Encoder<Vit, 1, 6, 5, 2>, 6, 3>;

    let (model, mut memory) = (filled::<Text>(7), boxed::<Memory<Text, 5>>());
    let mut seen = Seen::new();
    let hidden = model.observe(&[1, 6, 0], &mut memory, &mut watch(&mut seen)).unwrap();
    assert!(rows(&seen, "encoder.blocks.0").eq(hidden.as_flattened().iter().copied()));
    assert_eq!(seen["embedding"].len(), 3);

    let (model, mut memory) = (filled::<Digits>(7), boxed::<Memory<Digits, 5>>());
    let mut seen = Seen::new();
    let logits = model.observe(&[[0.5; 4]; 4], &mut memory, &mut watch(&mut seen)).unwrap();
    assert_eq!(seen["head"], [(0, logits.to_vec())]);
    assert_eq!(logits, model.forward(&[[0.5; 4]; 4], &mut memory).unwrap());
}
