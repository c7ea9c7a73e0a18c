//! The format `IntegerOnly`: near the same integers with `f32` between them, in any kind of layer, and itself in parts.

mod common;

use common::random::Random;
use constformer::{math::fixed, *};

/// How much farther from the model in `f32` its integers with fixed-point numbers between them may be than with `f32` between them. The two
/// differ by steps: a number that is rounded to 8 bits the other way.
const FARTHER: f32 = 1.2;

common::families! {
    Gated: PreLn, RmsNorm<D_MODEL>, Causal, NoBias, GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>, final RmsNorm<D_MODEL>;
    ReluNet: PostLn, LayerNorm<D_MODEL>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    Unbiased: PreLn, LayerNorm<D_MODEL, typenum::U5, NoBias>, Bidirectional, NoBias, FeedForward<D_MODEL, D_FF, Gelu, T, NoBias>,
        final LayerNorm<D_MODEL, typenum::U5, NoBias>;
}

fn tokens<const D: usize, const L: usize, S: TokenFormat>(x: &Sequence<D, L, S>) -> Vec<f32> {
    (0..x.len()).flat_map(|i| x.get(i).unwrap()).collect()
}

/// The root of the mean square of differences.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    (a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() / a.len().max(1) as f32).sqrt()
}

/// A model in `f32`, and quantised ones.
fn quantized<M: Parameters, A: Parameters, B: Parameters>() -> (Boxed<M>, Boxed<A>, Boxed<B>) {
    let mut model = boxed::<M>();
    Random(7).fill(&mut *model);
    let (a, b) = (quantize(&*model), quantize(&*model));
    (model, a, b)
}

/// Asserts that integers alone give what integers give, whose differences from what they stand for are given.
fn assert_near(name: &str, integers_alone: f32, integers: f32) {
    println!("{name}: {integers_alone:.1e} and {integers:.1e} from the model in f32");
    assert!(integers_alone < FARTHER * integers, "{name}: {integers_alone} {integers}");
    assert!(integers < 0.2, "{name}: {integers}");
}

/// All tokens that `layer` makes, for a number of lengths.
fn outputs<L: Layer<D>, const D: usize>(layer: &L) -> Vec<f32> {
    let mut scratch = boxed::<L::Scratch<37, 4>>();
    let mut all = vec![];
    for len in [0, 1, 2, 3, 4, 5, 31, 33, 37] {
        let mut x = boxed::<Sequence<D, 37, L::Stream>>();
        x.assign(&Random(len as u64).tokens::<D>(len)).unwrap();
        layer.forward(&mut x, &mut scratch);
        assert_eq!(x.len(), len);
        all.extend(tokens(&*x));
    }
    all
}

/// The layer `A` of integers alone is as near to `M` as `B` of integers.
fn check<M: Layer<D>, A: Layer<D>, B: Layer<D>, const D: usize>(name: &str) {
    let (model, a, b) = quantized::<M, A, B>();
    let exact = outputs(&*model);
    assert_near(name, distance(&outputs(&*a), &exact), distance(&outputs(&*b), &exact));
}

macro_rules! encoders {
    ($($family:ident)*) => { $(
        check::<
            Encoder<$family, 2, 21, 35, 3>,
            Encoder<$family, 2, 21, 35, 3, IntegerOnly<Int8>>,
            Encoder<$family, 2, 21, 35, 3, Int8Cache<Int8>>,
            21,
        >(stringify!($family));
    )* };
}

#[test]
fn encoders_of_all_families() {
    encoders!(Vaswani Bert Gpt2 Vit Kwt Gated ReluNet Unbiased);
}

#[test]
fn other_weights_and_streams() {
    type Model<T> = Encoder<Bert, 2, 64, 96, 2, T>;
    check::<Model<f32>, Model<IntegerOnly<Int4>>, Model<Int8Cache<Int4>>, 64>("Int4");
    check::<Model<f32>, Model<Int8Cache<IntegerOnly<Int8>>>, Model<Int8Cache<Int8>>, 64>("Int8Cache around it");
    // A token is rounded to 8 bits in each layer, so a difference may become a step of that.
    check::<Model<f32>, Model<Int8Stream<IntegerOnly<Int8>>>, Model<Int8Stream<Int8Cache<Int8>>>, 64>("Int8Stream");
}

/// Rotary positions of either kind, and heads of keys and values that are shared.
#[test]
fn decoders() {
    type Model<R, T> = Decoder<Llama<R>, 2, 24, 37, 6, T, 2, 8>;
    check::<Model<Interleaved, f32>, Model<Interleaved, IntegerOnly<Int8>>, Model<Interleaved, Int8Cache<Int8>>, 24>(
        "interleaved",
    );
    check::<Model<HalfSplit, f32>, Model<HalfSplit, IntegerOnly<Int8>>, Model<HalfSplit, Int8Cache<Int8>>, 24>(
        "half split",
    );
}

/// In parts, token by token, as at once.
#[test]
fn a_cache_gives_the_same_bits_in_parts() {
    type Model = Decoder<Llama, 2, 24, 37, 6, IntegerOnly<Int8>, 2, 8>;
    let (_, model, _) = quantized::<Decoder<Llama, 2, 24, 37, 6, f32, 2, 8>, Model, Model>();
    let input = Random(2).tokens::<24>(40);
    let mut all = boxed::<Sequence<24, 40, i32>>();
    all.assign(&input).unwrap();
    model.forward(&mut all, &mut boxed::<Scratch<24, 37, 40, 7, 8, i8, i32, i32>>());
    let mut cache = boxed::<Cache<2, 8, 40, i8>>();
    let mut scratch = boxed::<TileScratch<24, 37, 40, 7, i8, i32, i32>>();
    let mut parts = vec![];
    for part in [&input[..11], &input[11..12], &input[12..30], &input[30..]] {
        let mut x = boxed::<Sequence<24, 40, i32>>();
        x.assign(part).unwrap();
        model.extend(&mut x, &mut cache, &mut scratch).unwrap();
        parts.extend(tokens(&x));
    }
    assert_eq!(parts, tokens(&*all), "bit for bit");
}

/// What a decoder makes of a source.
fn decoded<T: Format>(model: &CrossDecoder<Vaswani, 2, 21, 35, 3, T>) -> Vec<f32> {
    let mut encoded = boxed::<Sequence<21, 40, T::Stream>>();
    encoded.assign(&Random(5).tokens::<21>(40)).unwrap();
    let mut x = boxed::<Sequence<21, 9, T::Stream>>();
    x.assign(&Random(6).tokens::<21>(9)).unwrap();
    let mut source = boxed::<Source<2, 21, 40, T::KeyValues>>();
    model.attend_to(&encoded, &mut source);
    let mut scratch = boxed::<CrossScratch<21, 35, 9, 40, 4, T::KeyValues, T::Stream, T::Number>>();
    model.extend(&mut x, &source, &mut boxed::<Cache<2, 21, 9, T::KeyValues>>(), &mut scratch).unwrap();
    tokens(&x)
}

#[test]
fn a_decoder_of_a_source() {
    type Model<T> = CrossDecoder<Vaswani, 2, 21, 35, 3, T>;
    let (model, a, b) = quantized::<Model<f32>, Model<IntegerOnly<Int8>>, Model<Int8Cache<Int8>>>();
    let exact = decoded(&model);
    assert_near("cross", distance(&decoded(&a), &exact), distance(&decoded(&b), &exact));
}

type Classes<P, T> = Classifier<PatchEmbedding<5, 12, 9, T>, Encoder<Vit, 2, 12, 20, 3, T>, 12, 7, P, T>;

/// What an observer sees, and the logits.
fn seen<P: Pooling, T: Format>(model: &Classes<P, T>) -> (Vec<(String, usize, Vec<f32>)>, [f32; 7]) {
    let frames = Random(3).tokens::<5>(8);
    let mut memory = boxed::<Memory<Classes<P, T>, 9, 4>>();
    let mut seen = vec![];
    let mut see = |name: &Name<'_>, token: usize, x: &[f32]| seen.push((name.to_string(), token, x.to_vec()));
    let logits = model.observe(&frames, &mut memory, &mut see).unwrap();
    assert_eq!(model.forward(&frames, &mut memory), Ok(logits), "bit for bit");
    let mut steps = model.start(&frames, &mut memory).unwrap();
    assert!(steps.by_ref().count() > 3);
    assert_eq!(model.finish(steps), Ok(logits), "bit for bit");
    assert!(model.forward(&[], &mut memory).is_err());
    (seen, logits)
}

/// Patches, pooling and head are integers as well; an observer sees the same names, and numbers near.
#[test]
fn classifiers_and_observers() {
    fn check<P: Pooling>() {
        let (model, a, b) = quantized::<Classes<P, f32>, Classes<P, IntegerOnly<Int8>>, Classes<P, Int8Cache<Int8>>>();
        let ((exact, exact_logits), (a, a_logits), (b, b_logits)) = (seen(&*model), seen(&*a), seen(&*b));
        assert_near(P::NAME, distance(&a_logits, &exact_logits), distance(&b_logits, &exact_logits));
        assert!(a.len() == exact.len() && b.len() == exact.len());
        let names: std::collections::BTreeSet<_> = exact.iter().map(|(name, ..)| name).collect();
        for name in names {
            let of = |all: &[(String, usize, Vec<f32>)]| {
                all.iter().filter(|(other, ..)| other == name).flat_map(|(.., x)| x.clone()).collect::<Vec<f32>>()
            };
            let (exact, a, b) = (of(&exact), of(&a), of(&b));
            // Weights that are within 1e-4 may be nearer by chance with the one or the other.
            assert_near(name, distance(&a, &exact), 1.5 * distance(&b, &exact) + 1e-4);
        }
    }
    check::<FirstToken>();
    check::<Mean>();
}

/// max(0, x)², which has no other form.
#[derive(Clone, Copy)]
struct SquaredRelu;

impl Activation for SquaredRelu {
    const NAME: &str = "squared relu";

    fn apply<M: machine::Machine>(m: M, x: M::Vector) -> M::Vector {
        let x = m.max(m.splat(0.0), x);
        m.mul(x, x)
    }
}

model! {
    /// y = γ x, which has no other form.
    struct Gain {
        weight: [f32; 1],
    }
}

impl<const D: usize> Norm<D> for Gain {
    fn forward(&self, tokens: &mut [[f32; D]]) {
        tokens.as_flattened_mut().iter_mut().for_each(|x| *x *= self.weight[0]);
    }
}

common::families! {
    Own: PostLn, Gain, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, SquaredRelu, T>, final Gain;
}

/// By way of `f32`.
#[test]
fn activations_and_norms_of_one_s_own() {
    assert_eq!(SquaredRelu::apply_fixed(fixed::from_f32(1.5)), fixed::from_f32(2.25));
    assert_eq!(SquaredRelu::apply_fixed(fixed::from_f32(-1.5)), 0);
    encoders!(Own);
}

/// What is too large becomes the greatest number, and comes out as some number.
#[test]
fn numbers_that_are_too_large() {
    let (_, model, _) = quantized::<
        Encoder<Vit, 2, 21, 35, 3>,
        Encoder<Vit, 2, 21, 35, 3, IntegerOnly<Int8>>,
        Encoder<Vit, 2, 21, 35, 3>,
    >();
    for large in [f32::MAX, -f32::MAX, f32::INFINITY, 40_000.0, -32_768.0, f32::NAN, 0.0, 1e-7] {
        let mut x = boxed::<Sequence<21, 9, i32>>();
        x.assign(&[[large; 21]; 9]).unwrap();
        let mut input = Random(1).tokens::<21>(1);
        input[0][3] = large;
        x.update(|i, tokens| tokens[0] = if i == 0 { input[0] } else { tokens[0] });
        model.forward(&mut x, &mut boxed::<Scratch<21, 35, 9, 4, 21, i8, i32, i32>>());
        assert!(tokens(&*x).iter().all(|x| x.abs() <= 32_768.0), "{large}");
    }
}

/// The image of the one is that of the other.
#[test]
fn images_are_shared() {
    type Model<T> = Encoder<Vit, 2, 21, 35, 3, T>;
    assert_eq!(Model::<IntegerOnly<Int8>>::FINGERPRINT, Model::<Int8>::FINGERPRINT);
    assert_eq!(Model::<IntegerOnly<Int4>>::FINGERPRINT, Model::<Int4>::FINGERPRINT);
}
