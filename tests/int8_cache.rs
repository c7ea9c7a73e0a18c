//! The format `Int8Cache`: keys and values of 8 bits, against their definition and against themselves in parts.

mod common;

use common::random::Random;
use constformer::*;

const HEADS: usize = 3;
const D: usize = 21;
const D_HEAD: usize = D / HEADS;

/// The multiples of a scale that are nearest, the greatest magnitude being `highest` of them.
fn rounded(x: &[f64], highest: f64) -> Vec<f64> {
    let greatest = x.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    if greatest == 0.0 {
        return x.to_vec();
    }
    x.iter().map(|x| (x * highest / greatest).round_ties_even() * greatest / highest).collect()
}

/// In f64, with all roundings to integers: the scale of a query is that of its head, the scale of a weight that of its row of weights times
/// the scales of the values.
fn context(queries: &[Vec<f64>], keys: &[Vec<f64>], values: &[Vec<f64>], visible: impl Fn(usize) -> usize) -> Vec<f64> {
    let scale = |x: &[f64]| x.iter().fold(0.0, |max: f64, x| max.max(x.abs())) / 127.0;
    let (scales, keys): (Vec<f64>, Vec<_>) =
        (values.iter().map(|value| scale(value)).collect(), keys.iter().map(|key| rounded(key, 127.0)).collect());
    let integers: Vec<Vec<f64>> = values
        .iter()
        .zip(&scales)
        .map(|(value, scale)| value.iter().map(|x| (x / scale).round_ties_even()).collect())
        .collect();
    let mut contexts = vec![];
    for (row, query) in queries.iter().enumerate() {
        for columns in (0..D).step_by(D_HEAD).map(|first| first..first + D_HEAD) {
            let query = rounded(&query[columns.clone()], 2047.0);
            let scores: Vec<f64> = keys[..visible(row)]
                .iter()
                .map(|key| {
                    query.iter().zip(&key[columns.clone()]).map(|(q, k)| q * k).sum::<f64>() / (D_HEAD as f64).sqrt()
                })
                .collect();
            let greatest = scores.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let weights: Vec<f64> = scores.iter().map(|x| (x - greatest).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let weights: Vec<f64> = weights.iter().zip(&scales).map(|(weight, scale)| weight / sum * scale).collect();
            let weights = rounded(&weights, 2047.0);
            contexts.extend(columns.map(|c| weights.iter().zip(&integers).map(|(w, v)| w * v[c]).sum::<f64>()));
        }
    }
    contexts
}

/// Lengths of every remainder, of one panel of tokens and of more.
#[test]
fn attention_is_what_its_definition_says() {
    fn check<F: Family, const L: usize>() {
        let mut random = Random(5);
        let mut attention = boxed::<MultiHeadAttention<F, D, HEADS, Int8Cache<f32>>>();
        random.fill(&mut *attention);
        // The output is the context.
        attention.output = Zero::ZERO;
        for i in 0..D {
            attention.output.weight.set(i, i, 1.0);
        }
        let mut scratch = boxed::<AttentionScratch<D, L, 5, D, i8>>();
        for len in (0..=9).chain([31, 32, 33, 36, 63, 67]).filter(|len| *len <= L) {
            let mut x = boxed::<Sequence<D, L>>();
            x.assign(&random.tokens::<D>(len)).unwrap();
            let of = |map: &Linear<D, D, Int8Cache<f32>, F::InputBias>| {
                let mut y = boxed::<Sequence<D, L>>();
                map.forward(&x, &mut y);
                y.tokens().iter().map(|token| token.iter().map(|x| f64::from(*x)).collect()).collect::<Vec<Vec<f64>>>()
            };
            let (queries, keys, values) = (of(&attention.query), of(&attention.key), of(&attention.value));
            let visible = |row| if F::Mask::CAUSAL { row + 1 } else { len };
            let expected = context(&queries, &keys, &values, visible);
            attention.forward(&mut x, &mut scratch);
            let error = common::max_error(x.tokens().as_flattened(), expected);
            // An integer may be rounded the other way.
            assert!(error < 5e-4, "{len} tokens: {error:e}");
        }
    }
    check::<Bert, 67>();
    check::<Bert, 7>();
    check::<Gpt2, 67>();
}

type Deep<T = f32> = Decoder<Llama, 2, 24, 37, 6, T, 2, 8>;

fn deep() -> [Boxed<Deep<Int8Cache<f32>>>; 1] {
    let mut model = boxed::<Deep<Int8Cache<f32>>>();
    Random(9).fill(&mut *model);
    [model]
}

/// In parts, with rotary positions and shared heads, as at once; also after tokens were let go and taken back.
#[test]
fn a_cache_of_integers_gives_the_same_bits_in_parts() {
    let [model] = deep();
    let tokens = Random(2).tokens::<24>(40);
    let mut all = boxed::<Sequence<24, 40>>();
    all.assign(&tokens).unwrap();
    model.forward(&mut all, &mut boxed::<Scratch<24, 37, 40, 7, 8, i8>>());

    let mut cache = boxed::<Cache<2, 8, 40, i8>>();
    let mut scratch = boxed::<TileScratch<24, 37, 40, 7, i8>>();
    let mut extend = |tokens: &[[f32; 24]], cache: &mut Cache<2, 8, 40, i8>| {
        let mut x = boxed::<Sequence<24, 40>>();
        x.assign(tokens).unwrap();
        model.extend(&mut x, cache, &mut scratch).unwrap();
        x.tokens().to_vec()
    };
    let mut parts = extend(&tokens[..11], &mut cache);
    parts.extend(tokens[11..].iter().flat_map(|token| extend(&[*token], &mut cache)));
    assert_eq!(parts, all.tokens(), "bit for bit");

    cache.rewind(34).unwrap();
    assert_eq!(extend(&tokens[34..36], &mut cache), all.tokens()[34..36], "bit for bit");

    // What is let go is not seen any more; what stays is where it was.
    let mut other = boxed::<Cache<2, 8, 40, i8>>();
    let mut last = vec![];
    for cache in [&mut cache, &mut other] {
        cache.reset();
        extend(&tokens[..33], cache);
    }
    cache.let_go(3);
    assert_eq!((cache.len(), cache.position()), (30, 33));
    last.extend(extend(&tokens[33..37], &mut cache));
    let seen_all = extend(&tokens[33..37], &mut other);
    assert_ne!(last, seen_all);
    let error = common::max_error(last.as_flattened(), seen_all.as_flattened().iter().map(|x| f64::from(*x)));
    assert!(error < 1.0, "{error}");
}

/// What letting go leaves is what would have been there without the tokens that are gone, at their positions.
#[test]
fn letting_go_of_all_but_one_layer_s_tokens() {
    type One<T> = Decoder<Llama, 1, 24, 37, 6, T, 2, 8>;
    let mut model = boxed::<One<Int8Cache<f32>>>();
    Random(9).fill(&mut *model);
    let tokens = Random(2).tokens::<24>(38);
    let mut scratch = boxed::<TileScratch<24, 37, 40, 7, i8>>();
    let mut run = |parts: &[&[[f32; 24]]], let_go: [usize; 2]| {
        let mut cache = boxed::<Cache<1, 8, 40, i8>>();
        let mut x = boxed::<Sequence<24, 40>>();
        for (part, let_go) in parts.iter().zip(let_go) {
            x.assign(part).unwrap();
            model.extend(&mut x, &mut cache, &mut scratch).unwrap();
            cache.let_go(let_go);
        }
        x.tokens().to_vec()
    };
    // One block: keys and values are of each token alone, so those of the last 5 of 35 are the same whatever came before.
    let a = run(&[&tokens[..35], &tokens[35..]], [30, 0]);
    let mut others = tokens[..35].to_vec();
    others[..30].fill([0.5; 24]);
    assert_eq!(a, run(&[&others, &tokens[35..]], [30, 0]), "bit for bit");
}

/// A NaN comes out as one, and infinity does.
#[test]
fn what_is_not_finite_shows() {
    let [model] = deep();
    for bad in [f32::NAN, f32::INFINITY] {
        let mut x = boxed::<Sequence<24, 5>>();
        x.assign(&Random(2).tokens::<24>(5)).unwrap();
        x.tokens_mut()[1][3] = bad;
        model.forward(&mut x, &mut boxed::<Scratch<24, 37, 5, 4, 8, i8>>());
        let finite: Vec<bool> = x.tokens().iter().map(|token| token.iter().all(|x| x.is_finite())).collect();
        assert_eq!(finite, [true, false, false, false, false]);
    }
}

/// Heads of a source, which a decoder attends to, in integers as well: near those in f32.
#[test]
fn a_decoder_of_a_source() {
    type Model<T> = CrossDecoder<Vaswani, 2, 21, 35, 3, T>;
    let mut exact = boxed::<Model<f32>>();
    let mut model = boxed::<Model<Int8Cache<f32>>>();
    Random(4).fill(&mut *exact);
    Random(4).fill(&mut *model);
    let mut encoded = boxed::<Sequence<21, 40>>();
    encoded.assign(&Random(5).tokens::<21>(40)).unwrap();
    let (mut x, mut y) = (boxed::<Sequence<21, 9>>(), boxed::<Sequence<21, 9>>());
    x.assign(&Random(6).tokens::<21>(9)).unwrap();
    y.assign(x.tokens()).unwrap();

    let mut source = boxed::<Source<2, 21, 40, i8>>();
    model.attend_to(&encoded, &mut source);
    let mut scratch = boxed::<CrossScratch<21, 35, 9, 40, 4, i8>>();
    model.extend(&mut x, &source, &mut boxed::<Cache<2, 21, 9, i8>>(), &mut scratch).unwrap();

    let mut source = boxed::<Source<2, 21, 40>>();
    exact.attend_to(&encoded, &mut source);
    let mut scratch = boxed::<CrossScratch<21, 35, 9, 40, 4>>();
    exact.extend(&mut y, &source, &mut boxed::<Cache<2, 21, 9>>(), &mut scratch).unwrap();
    let error = common::max_error(x.tokens().as_flattened(), y.tokens().as_flattened().iter().map(|x| f64::from(*x)));
    println!("within {error:.1e} of f32");
    assert!(error < 0.05 && error > 1e-5);
}
