//! Gradients against central differences of the same arithmetic in `f64` (`common/naive.rs`): activations, norms, blocks, stacks;
//! and dropout, against differences of its own way forward.

mod common;

use common::{
    ZERO, larger, largest,
    naive::{self, Recipe, Rows, Stack},
    random::Random,
    worst,
};
use constformer::{
    Activation, Bert, Boxed, Causal, Custom, Decoder, DecoderBlock, Encoder, EncoderBlock, FeedForward, Gelu, GeluTanh,
    Gpt2, HalfSplit, Identity, Interleaved, Kwt, LayerNorm, Llama, Masked, NoBias, Pairing, Parameters, PostLn, PreLn,
    Relu, RmsNorm, Sequence, Silu, TILE, Vit, WithFinalNorm, boxed,
    machine::{Plain, Single},
    training::{Dropout, TrainableActivation, TrainableLayer, TrainableNorm, TrainablePositionWise as _, WrongRate},
};
use std::any::type_name;
use typenum::{U5, U6, U12};

/// (f(h) - f(-h)) / 2h
fn slope(h: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    (f(h) - f(-h)) / (2.0 * h)
}

/// The name of a type without its paths.
fn short<T>() -> String {
    type_name::<T>().split_inclusive(['<', ' ', '[']).map(|part| part.rsplit("::").next().unwrap()).collect()
}

/// Σ a ⊙ b
fn dot<'a>(a: impl IntoIterator<Item = &'a f32>, b: impl IntoIterator<Item = f64>) -> f64 {
    a.into_iter().zip(b).map(|(a, b)| f64::from(*a) * b).sum()
}

fn rows<const D: usize>(tokens: &[[f32; D]]) -> Rows {
    tokens.iter().map(|x| x.map(f64::from).to_vec()).collect()
}

/// Panels of all widths.
const WIDTH: usize = 63;

/// f' at the width of the machine: with tokens of zeros, x is the bias of the inner map, and its gradient is f'(x).
fn derivative_in_a_layer<A: TrainableActivation>(x: &[f32; WIDTH]) -> [f32; WIDTH] {
    let mut layer = boxed::<FeedForward<WIDTH, WIDTH, A>>();
    (0..WIDTH).for_each(|i| layer.outer.weight.set(i, i, 1.0));
    layer.inner.bias = *x;
    let mut gradient = boxed::<FeedForward<WIDTH, WIDTH, A>>();
    let (dy, mut dx, dropped) = ([[1.0; WIDTH]], [[0.0; WIDTH]], (Dropout::NONE, 0));
    layer.backward::<1>(&[[0.0; WIDTH]], &dy, &mut dx, &mut boxed(), dropped, &mut gradient);
    gradient.inner.bias
}

/// From -30 to 30, and ±1e-6 to ±1e4; a whole number of layers.
fn inputs() -> Vec<f32> {
    let dense = (-30_000..=30_000i32).map(|i| i as f32 * 1e-3);
    let wide = (0..=1_000i32).flat_map(|i| {
        let x = 10f32.powf(i as f32 * 1e-2 - 6.0);
        [x, -x]
    });
    let mut x: Vec<_> = dense.chain(wide).filter(|x| *x != 0.0).collect();
    x.resize(x.len().next_multiple_of(WIDTH), 1.0);
    x
}

fn check_activation<A: TrainableActivation>(f: fn(f64) -> f64, at_zero: f32) {
    let inputs = inputs();
    let expected: Vec<_> = inputs.iter().map(|x| f64::from(*x)).map(|x| slope(1e-5 * x, |h| f(x + h))).collect();
    let one_by_one: Vec<_> = inputs.iter().map(|x| A::derivative(Single, *x)).collect();
    let four: Vec<_> = inputs.iter().map(|x| A::derivative(Plain, [1.0, *x, -2.0, 0.0])[1]).collect();
    let layer: Vec<_> = inputs.as_chunks().0.iter().flat_map(derivative_in_a_layer::<A>).collect();
    for (how, found) in [("one lane", one_by_one), ("four lanes", four), ("in a layer", layer)] {
        let errors = found.iter().zip(&expected).map(|(found, expected)| (f64::from(*found) - expected).abs());
        let (x, error) = inputs.iter().zip(errors).fold((&0.0, 0.0), |a, b| if larger(a.1, b.1) > a.1 { b } else { a });
        println!("{}', {how}: max error {error:.2e}, at {x}", A::NAME);
        assert!(error <= 1e-6);
    }

    // Far out it is that of a line, and 0 has a derivative too.
    let left = if A::NAME == Identity::NAME { 1.0 } else { 0.0 };
    for (x, expected) in
        [(0.0, at_zero), (-0.0, at_zero), (1e30, 1.0), (-1e30, left), (f32::MAX, 1.0), (f32::MIN, left)]
    {
        let found = [A::derivative(Single, x), A::derivative(Plain, [1.0, x, -2.0, 0.0])[1]];
        for found in found.into_iter().chain(derivative_in_a_layer::<A>(&[x; WIDTH])) {
            assert!((found - expected).abs() <= 1e-6, "{}' at {x}: {found}", A::NAME);
        }
    }
    if A::NAME != Identity::NAME {
        let mut x = [1.0; WIDTH];
        [x[1], x[WIDTH - 1]] = [f32::NAN, -f32::NAN];
        let found = derivative_in_a_layer::<A>(&x);
        assert!(
            A::derivative(Single, f32::NAN).is_nan() && A::derivative(Plain, [1.0, f32::NAN, 2.0, 3.0])[1].is_nan()
        );
        assert!(x.iter().zip(&found).all(|(x, found)| x.is_nan() == found.is_nan()), "{}': {found:?}", A::NAME);
    }
}

/// That of ReLU at 0 is 0, as PyTorch has it. The identity's is 1 for NaN too.
#[test]
fn activations() {
    check_activation::<Identity>(naive::identity, 1.0);
    check_activation::<Relu>(naive::relu, 0.0);
    check_activation::<Gelu>(naive::gelu, 0.5);
    check_activation::<GeluTanh>(naive::gelu_tanh, 0.5);
    check_activation::<Silu>(naive::silu, 0.5);
    assert_eq!([0.0, -0.0, f32::from_bits(1)].map(|x| Relu::derivative(Single, x)), [0.0, 0.0, 1.0]);
}

/// A vector by name, if there is one.
fn vector(norm: &impl Parameters, name: &str) -> Option<Vec<f32>> {
    let mut vector = None;
    norm.for_each_tensor(|found, tensor| {
        if found.to_string() == name {
            vector = Some(tensor.stored().to_vec());
        }
    });
    vector
}

/// What a token is divided by, and how far from 0 it lies in that.
fn moments(x: &[f64], centred: bool, epsilon: f64) -> (f64, f64) {
    let d = x.len() as f64;
    let mean = if centred { x.iter().sum::<f64>() / d } else { 0.0 };
    let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / d + epsilon).sqrt();
    (deviation, mean.abs() / deviation)
}

fn check_norm<N: TrainableNorm<D>, const D: usize>(centred: bool, epsilon: f64) {
    let mut random = Random(D as u64);
    let mut norm = boxed::<N>();
    random.fill(&mut *norm);
    let wide =
        |numbers: Option<Vec<f32>>| numbers.map(|numbers| numbers.into_iter().map(f64::from).collect::<Vec<_>>());
    let (weight, bias) = (wide(vector(&*norm, "weight")).unwrap(), wide(vector(&*norm, "bias")));
    let normalize = |x: &[f64], weight: &[f64]| naive::normalize(x, weight, bias.as_deref(), centred, epsilon);

    // Scales, and how far from 0 the tokens lie in them.
    let kinds = [1e-3, 1e-2, 1.0, 30.0, 1e3].into_iter().flat_map(|scale| [(scale, 0.0), (scale, 1.0), (scale, 20.0)]);
    let (x, digits): (Vec<[f32; D]>, Vec<f64>) = kinds
        .map(|(scale, offset)| {
            let x: [f32; D] = std::array::from_fn(|_| scale * (random.number() + offset));
            // A mean is known to a last place of the features, which is much if they lie close together.
            let (_, distance) = moments(&x.map(f64::from), centred, epsilon);
            (x, 1e-6 + 2.0 * f64::from(f32::EPSILON) * distance)
        })
        .unzip();
    let dy = random.tokens::<D>(x.len());
    let (mut dx, mut gradient) = (dy.clone(), boxed::<N>());
    gradient.for_each_tensor_mut(|_, mut tensor| tensor.fill(3.0));
    norm.backward(&x, &mut dx, &mut gradient);

    // Of each token, relative to what it would be were mean and variance no functions of the token.
    let mut worst: f64 = 0.0;
    for (((x, dy), dx), digits) in x.iter().zip(&dy).zip(&dx).zip(&digits) {
        let wide = x.map(f64::from);
        let (deviation, _) = moments(&wide, centred, epsilon);
        let unit = largest((0..D).map(|i| f64::from(dy[i]) * weight[i])) / deviation;
        let expected = (0..D).map(|i| {
            slope(1e-6 * deviation, |h| {
                let mut wide = wide;
                wide[i] += h;
                dot(dy, normalize(&wide, &weight))
            })
        });
        let error = common::max_error(dx, expected) / unit;
        assert!(error <= *digits, "{} {D}, {x:?}: {error:e} of {digits:e}", short::<N>());
        worst = larger(worst, error / digits);
    }

    // They add up over tokens, to what was there before, and over calls.
    let of_all =
        |weight: &[f64]| -> f64 { rows(&x).iter().zip(&dy).map(|(x, dy)| dot(dy, normalize(x, weight))).sum() };
    let d_weight = (0..D).map(|i| {
        slope(1e-3, |h| {
            let mut weight = weight.clone();
            weight[i] += h;
            of_all(&weight)
        })
    });
    let d_weight: Vec<_> = d_weight.collect();
    let d_bias: Vec<f64> = (0..D).map(|i| dy.iter().map(|dy| f64::from(dy[i])).sum()).collect();
    let bound = digits.iter().fold(0.0, |a, b| larger(a, *b)) * 4.0;
    for calls in 1..=3 {
        for (name, expected) in [("weight", &d_weight), ("bias", &d_bias)] {
            let Some(found) = vector(&*gradient, name) else { continue };
            let expected: Vec<_> = expected.iter().map(|d| 3.0 + f64::from(calls) * d).collect();
            let error = common::max_error(&found, expected.iter().copied()) / larger(1.0, largest(expected));
            assert!(error <= bound, "{} {D}, {name}: {error:e} of {bound:e}", short::<N>());
            worst = larger(worst, error / bound);
        }
        norm.backward(&x, &mut dy.clone(), &mut gradient);
    }
    println!("{} {D}: {worst:.2} of the error that rounding allows", short::<N>());
}

#[test]
fn norms() {
    fn check<const D: usize>() {
        check_norm::<LayerNorm<D, U5>, D>(true, 1e-5);
        check_norm::<LayerNorm<D, U12>, D>(true, 1e-12);
        check_norm::<LayerNorm<D, U5, NoBias>, D>(true, 1e-5);
        check_norm::<RmsNorm<D, U6>, D>(false, 1e-6);
        check_norm::<RmsNorm<D, U5>, D>(false, 1e-5);
    }
    check::<1>();
    check::<3>();
    check::<7>();
    check::<8>();
    check::<13>();
    check::<16>();
    check::<37>();
    check::<64>();
}

const KWT: Recipe = Recipe {
    norm_first: false,
    centred: true,
    epsilon: 1e-6,
    causal: false,
    pairing: None,
    activation: naive::gelu_tanh,
};
const BERT: Recipe = Recipe { epsilon: 1e-12, activation: naive::gelu, ..KWT };
const VIT: Recipe = Recipe { norm_first: true, activation: naive::gelu, ..KWT };
const CAUSAL_VIT: Recipe = Recipe { causal: true, ..VIT };
const PRE_RELU: Recipe = Recipe { norm_first: true, epsilon: 1e-5, activation: naive::relu, ..KWT };
const POST_RELU: Recipe = Recipe { norm_first: false, ..PRE_RELU };
const GPT2: Recipe = Recipe { norm_first: true, epsilon: 1e-5, causal: true, ..KWT };
const INTERLEAVED: Recipe =
    Recipe { centred: false, activation: naive::silu, pairing: Some(Pairing::Interleaved), ..GPT2 };
const HALF_SPLIT: Recipe = Recipe { pairing: Some(Pairing::HalfSplit), ..INTERLEAVED };

type PreRelu = Custom<PreLn, Relu, WithFinalNorm, U5, NoBias>;
type PostRelu = Custom<PostLn, Relu, WithFinalNorm, U5, NoBias>;

/// What a layer returns, and the gradients of the sum of that times `dy`: of the tokens, and of each tensor in order of storage.
#[derive(PartialEq)]
struct Gradients {
    y: Vec<f32>,
    dx: Vec<f32>,
    tensors: Vec<(String, Vec<f32>)>,
}

/// [`Gradients`], of what has been used for other tokens before.
fn gradients<L: TrainableLayer<D>, const D: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &L,
    x: &[[f32; D]],
    dy: &[[f32; D]],
    [forward, backward]: [Dropout; 2],
) -> Gradients {
    let (mut saved, mut scratch) = (boxed::<L::Saved<SEQ_LEN>>(), boxed::<L::GradientScratch<SEQ_LEN, TILE>>());
    let other = Random(99).tokens(SEQ_LEN);
    let [mut y, mut dx] = [(); 2].map(|()| Sequence::<D, SEQ_LEN>::new());
    let mut gradient = boxed::<L::Gradient>();
    for (tokens, gradients) in [(&other[..], &other[..]), (x, dy)] {
        gradient = boxed();
        y.assign(tokens).unwrap();
        dx.assign(gradients).unwrap();
        layer.forward_saved(&mut y, &mut saved, &mut scratch, forward);
        layer.backward(&mut dx, &saved, &mut scratch, backward, &mut gradient);
    }
    let mut tensors = vec![];
    gradient.for_each_tensor(|name, tensor| tensors.push((name.to_string(), tensor.row_major().collect())));
    Gradients { y: y.tokens().as_flattened().to_vec(), dx: dx.tokens().as_flattened().to_vec(), tensors }
}

/// A layer of random parameters, tokens, and the gradients of their images.
fn example<L: Parameters, const D: usize>(len: usize) -> (Boxed<L>, Vec<[f32; D]>, Vec<[f32; D]>) {
    let mut random = Random(7);
    let mut layer = boxed::<L>();
    random.fill(&mut *layer);
    (layer, random.tokens(len), random.tokens(len))
}

/// Of large layers only some numbers are tried: a prime step, so that all rows and columns are met.
fn some<L: Parameters, T>(numbers: Vec<T>) -> Vec<T> {
    let step = match numbers.len() {
        201.. if L::COUNT > 10_000 => 43,
        201.. if L::COUNT > 4_000 => 11,
        _ => 1,
    };
    numbers.into_iter().step_by(step).collect()
}

/// `layer` on `len` of `SEQ_LEN` tokens against central differences.
fn check<L, const D: usize, const SEQ_LEN: usize, const TILE: usize>(recipe: Recipe, heads: usize, len: usize)
where
    L: TrainableLayer<D> + Parameters,
{
    const H: f64 = 1e-6;

    let (layer, x, dy) = example::<L, D>(len);
    let found = gradients::<L, D, SEQ_LEN, TILE>(&layer, &x, &dy, [Dropout::NONE; 2]);
    let (mut stack, mut wide) = (Stack::new(&*layer, heads, recipe), rows(&x));
    let error = common::max_error(&found.y, stack.forward(&wide).into_iter().flatten());
    assert!(error < 2e-5, "the way forward is another: {error:e}");

    let loss = |stack: &Stack, x: &Rows| dot(dy.as_flattened(), stack.forward(x).into_iter().flatten());
    let dx = some::<L, _>((0..len * D).collect()).into_iter().map(|i| {
        let before = wide[i / D][i % D];
        let slope = slope(H, |h| {
            wide[i / D][i % D] = before + h;
            loss(&stack, &wide)
        });
        wide[i / D][i % D] = before;
        slope
    });
    let mut expected = vec![("x".to_string(), dx.collect())];
    for (name, numbers) in &found.tensors {
        let columns = stack.tensor(name)[0].len();
        let differences = some::<L, _>((0..numbers.len()).collect()).into_iter().map(|i| {
            let place = |stack: &mut Stack, x| std::mem::replace(&mut stack.tensor(name)[i / columns][i % columns], x);
            let before = place(&mut stack, 0.0);
            let slope = slope(H, |h| {
                place(&mut stack, before + h);
                loss(&stack, &wide)
            });
            place(&mut stack, before);
            slope
        });
        expected.push((name.clone(), differences.collect()));
    }
    let tensors = found.tensors.into_iter().map(|(name, numbers)| (name, some::<L, _>(numbers)));
    let found: Vec<_> = [("x".to_string(), some::<L, _>(found.dx))].into_iter().chain(tensors).collect();
    let (name, error) = worst(&found, &expected, ZERO);
    println!("{}, {len} of {SEQ_LEN} tokens, {TILE} at a time: max error {error:.1e}, of {name}", short::<L>());
    assert!(error <= 1e-5);
}

// As few shapes as there can be: each is compiled anew.

#[test]
fn encoder_blocks() {
    for len in [1, 7, 11] {
        check::<EncoderBlock<Bert, 21, 13, 3>, 21, 11, 4>(BERT, 3, len);
        check::<EncoderBlock<Vit, 21, 13, 7>, 21, 11, 4>(VIT, 7, len);
        check::<EncoderBlock<Kwt, 21, 13, 3>, 21, 11, 4>(KWT, 3, len);
        check::<EncoderBlock<PreRelu, 21, 13, 3>, 21, 11, 4>(PRE_RELU, 3, len);
        check::<EncoderBlock<PostRelu, 21, 13, 1>, 21, 11, 4>(POST_RELU, 1, len);
        check::<EncoderBlock<Masked<Vit, Causal>, 21, 13, 3>, 21, 11, 4>(CAUSAL_VIT, 3, len);
    }
}

#[test]
fn decoder_blocks() {
    for len in [1, 7, 11] {
        check::<DecoderBlock<Gpt2, 21, 13, 3>, 21, 11, 4>(GPT2, 3, len);
        check::<DecoderBlock<Llama<Interleaved>, 24, 13, 6, f32, 2, 8>, 24, 11, 4>(INTERLEAVED, 6, len);
        check::<DecoderBlock<Llama<HalfSplit>, 24, 13, 6, f32, 2, 8>, 24, 11, 4>(HALF_SPLIT, 6, len);
        check::<DecoderBlock<Llama<HalfSplit>, 30, 13, 5, f32, 1, 6>, 30, 11, 4>(HALF_SPLIT, 5, len);
        // Heads of 7 columns: one of them has no partner.
        check::<DecoderBlock<Llama<Interleaved>, 21, 13, 3>, 21, 11, 4>(INTERLEAVED, 3, len);
    }
}

#[test]
fn sizes() {
    check::<EncoderBlock<Vit, 1, 1, 1>, 1, 1, TILE>(VIT, 1, 1);
    check::<EncoderBlock<Vit, 32, 64, 4>, 32, 16, TILE>(VIT, 4, 16);
    check::<EncoderBlock<Bert, 64, 48, 1>, 64, 53, TILE>(BERT, 1, 53); // more tokens than a tile
    // Heads, and keys, in a panel and a part.
    check::<DecoderBlock<Llama<HalfSplit>, 88, 37, 2, f32, 1, 44>, 88, 53, 13>(HALF_SPLIT, 2, 50);
}

#[test]
fn stacks() {
    for len in [1, 7, 11] {
        check::<[EncoderBlock<Bert, 21, 13, 3>; 2], 21, 11, 4>(BERT, 3, len);
        check::<[DecoderBlock<Gpt2, 21, 13, 3>; 3], 21, 11, 4>(GPT2, 3, len);
        check::<Encoder<Vit, 2, 21, 13, 7>, 21, 11, 4>(VIT, 7, len);
        check::<Encoder<Bert, 3, 21, 13, 3>, 21, 11, 4>(BERT, 3, len);
        check::<Encoder<PreRelu, 2, 21, 13, 3>, 21, 11, 4>(PRE_RELU, 3, len);
        check::<Encoder<PostRelu, 2, 21, 13, 1>, 21, 11, 4>(POST_RELU, 1, len);
        check::<Decoder<Gpt2, 2, 21, 13, 3>, 21, 11, 4>(GPT2, 3, len);
        check::<Decoder<Llama<Interleaved>, 2, 24, 13, 6, f32, 2, 8>, 24, 11, 4>(INTERLEAVED, 6, len);
        check::<Decoder<Llama<HalfSplit>, 2, 24, 13, 6, f32, 2, 8>, 24, 11, 4>(HALF_SPLIT, 6, len);
    }
}

/// The largest difference of two, each tensor relative to its largest number.
fn distance(a: Gradients, b: Gradients) -> f64 {
    let [a, b] = [a, b].map(|Gradients { y, dx, mut tensors }| {
        tensors.extend([("y".to_string(), y), ("x".to_string(), dx)]);
        tensors
    });
    let wide: Vec<(_, Vec<_>)> =
        b.into_iter().map(|(name, b)| (name, b.into_iter().map(f64::from).collect())).collect();
    worst(&a, &wide, ZERO).1
}

fn check_tiles<L: TrainableLayer<D> + Parameters, const D: usize>() {
    let dropped = Dropout::new(0.2, 5).unwrap();
    for len in [1, 7, 8, 11] {
        let (layer, x, dy) = example::<L, D>(len);
        for dropout in [[Dropout::NONE; 2], [dropped; 2]] {
            let whole = || gradients::<L, D, 17, 17>(&layer, &x, &dy, dropout);
            let tiles = [
                gradients::<L, D, 11, 1>(&layer, &x, &dy, dropout),
                gradients::<L, D, 11, 3>(&layer, &x, &dy, dropout),
                gradients::<L, D, 11, 8>(&layer, &x, &dy, dropout),
            ];
            let error = tiles.into_iter().fold(0.0, |max, tiles| larger(max, distance(tiles, whole())));
            println!("{}, {len} tokens: tiles differ by {error:.1e}", short::<L>());
            assert!(error <= 1e-5);
        }
    }
}

/// Neither the tile nor the capacity matters, but for rounding; with dropout neither.
#[test]
fn tiles() {
    check_tiles::<EncoderBlock<Bert, 21, 13, 3>, 21>();
    check_tiles::<Decoder<Gpt2, 2, 21, 13, 3>, 21>();
    check_tiles::<Decoder<Llama<HalfSplit>, 2, 24, 13, 6, f32, 2, 8>, 24>();
}

/// Gradients of parameters are added to what is there: those of two sequences are the sum of each one's.
#[test]
fn gradients_add_up() {
    fn check<L: TrainableLayer<D> + Parameters, const D: usize>() {
        let (layer, x, dy) = example::<L, D>(12);
        let (mut saved, mut scratch) = (boxed::<L::Saved<11>>(), boxed::<L::GradientScratch<11, 4>>());
        let (mut together, mut sums) = (boxed::<L::Gradient>(), boxed::<L::Gradient>());
        for (x, dy) in [(&x[..5], &dy[..5]), (&x[5..], &dy[5..]), (&x[..0], &dy[..0])] {
            let mut alone = boxed::<L::Gradient>();
            for gradient in [&mut together, &mut alone] {
                let [mut y, mut dx] = [(); 2].map(|()| Sequence::<D, 11>::new());
                y.assign(x).unwrap();
                dx.assign(dy).unwrap();
                layer.forward_saved(&mut y, &mut saved, &mut scratch, Dropout::NONE);
                layer.backward(&mut dx, &saved, &mut scratch, Dropout::NONE, gradient);
            }
            let mut numbers = vec![];
            alone.for_each_tensor(|_, tensor| numbers.extend_from_slice(tensor.stored()));
            assert_eq!(numbers.iter().all(|d| *d == 0.0), x.is_empty(), "no tokens, no gradient");
            let mut numbers = numbers.into_iter();
            sums.for_each_tensor_mut(|_, mut tensor| {
                tensor.stored_mut().iter_mut().zip(&mut numbers).for_each(|(sum, d)| *sum += d);
            });
        }
        let [together, sums] = [together, sums].map(|gradient| {
            let mut tensors = vec![];
            gradient.for_each_tensor(|name, tensor| tensors.push((name.to_string(), tensor.row_major().collect())));
            Gradients { y: vec![], dx: vec![], tensors }
        });
        assert!(distance(together, sums) <= 1e-5);
    }
    check::<Encoder<Bert, 3, 21, 13, 3>, 21>();
    check::<Decoder<Gpt2, 2, 21, 13, 3>, 21>();
    check::<Decoder<Llama<Interleaved>, 2, 24, 13, 6, f32, 2, 8>, 24>();
}

/// Training without dropout computes what inference does.
#[test]
fn the_way_forward_is_that_of_inference() {
    fn check<L: TrainableLayer<D> + Parameters, const D: usize>() {
        for len in [1, 7, 11] {
            let (layer, x, dy) = example::<L, D>(len);
            let trained = gradients::<L, D, 11, 4>(&layer, &x, &dy, [Dropout::NONE; 2]);
            let mut y = Sequence::<D, 11>::new();
            y.assign(&x).unwrap();
            layer.forward(&mut y, &mut boxed::<L::Scratch<11, 4>>());
            let y = y.tokens().as_flattened().iter().copied().map(f64::from);
            let error = common::max_error(&trained.y, y.clone()) / largest(y);
            println!("{}, {len} tokens: differs by {error:.1e}", short::<L>());
            assert!(error <= 1e-6);

            // A rate of 0 is no dropout.
            let zero = Dropout::new(0.0, 17).unwrap().pass(3);
            assert!(zero.is_none());
            assert!(gradients::<L, D, 11, 4>(&layer, &x, &dy, [zero; 2]) == trained, "bit for bit");
        }
    }
    check::<EncoderBlock<Bert, 21, 13, 3>, 21>();
    check::<Encoder<Vit, 2, 21, 13, 7>, 21>();
    check::<Encoder<PreRelu, 2, 21, 13, 3>, 21>();
    check::<Decoder<Gpt2, 2, 21, 13, 3>, 21>();
    check::<Decoder<Llama<Interleaved>, 2, 24, 13, 6, f32, 2, 8>, 24>();
    check::<Decoder<Llama<HalfSplit>, 2, 24, 13, 6, f32, 2, 8>, 24>();
}

/// Which numbers are kept, of 512 rows of 1024.
fn mask(dropout: Dropout) -> Vec<bool> {
    let mut rows = vec![[1.0f32; 1024]; 512];
    dropout.apply(&mut rows, 0);
    rows.as_flattened().iter().map(|y| *y != 0.0).collect()
}

/// How many standard deviations the share of true ones is away from `p`.
fn surprise(p: f64, events: impl Iterator<Item = bool>) -> f64 {
    let (mut count, mut sum) = (0.0, 0.0);
    for event in events {
        (count, sum) = (count + 1.0, sum + f64::from(u8::from(event)));
    }
    (sum / count - p) / (p * (1.0 - p) / count).sqrt()
}

#[test]
fn what_is_dropped() {
    for rate in [0.03, 0.1, 0.5, 0.9f32] {
        let dropout = Dropout::new(rate, 17).unwrap();
        let p = 1.0 - f64::from(rate);
        let kept = mask(dropout);
        assert!(surprise(p, kept.iter().copied()).abs() < 4.0, "{rate}");
        assert!(kept == mask(dropout) && kept == mask(Dropout::new(rate, 17).unwrap()), "a function of the seed");

        // What is kept is scaled, so that the mean stays; whatever the numbers, and wherever the rows begin.
        let x = Random(3).tokens::<1024>(512);
        let mut y = x.clone();
        dropout.apply(&mut y, 0);
        let scale = 1.0 / (1.0 - rate);
        for ((x, y), kept) in x.as_flattened().iter().zip(y.as_flattened()).zip(&kept) {
            assert_eq!(*y, if *kept { x * scale } else { 0.0 });
        }
        let sum_of = |f: fn(f64) -> f64| x.as_flattened().iter().map(|x| f(f64::from(*x))).sum::<f64>();
        let mean = y.as_flattened().iter().map(|y| f64::from(*y)).sum::<f64>() - sum_of(|x| x);
        let deviation = ((1.0 - p) / p * sum_of(|x| x * x)).sqrt();
        assert!((mean / deviation).abs() < 4.0, "{rate}");
        let mut rest = x[100..].to_vec();
        dropout.apply(&mut rest, 100);
        assert!(rest == y[100..], "a token's mask does not depend on where its tile begins");

        // Other seeds, passes and parts have other masks, which know nothing of each other; neither do rows nor columns.
        let others = [
            mask(Dropout::new(rate, 18).unwrap()),
            mask(dropout.pass(0)),
            mask(dropout.pass(1)),
            mask(dropout.pass(1).part(0)),
            mask(dropout.pass(0).part(1)),
            mask(dropout.part(1).part(1)),
            mask(dropout.pass(u64::MAX)),
            kept[1..].to_vec(),
            kept[2..].to_vec(),
            kept[1024..].to_vec(),
            kept[1025..].to_vec(),
            kept[1023..].to_vec(),
        ];
        for (i, other) in others.iter().enumerate() {
            assert!(surprise(p, other.iter().copied()).abs() < 4.0, "{rate}, {i}");
            for (j, another) in others[..i].iter().chain([&kept]).enumerate() {
                let both = other.iter().zip(another).map(|(a, b)| *a && *b);
                let surprise = surprise(p * p, both);
                assert!(surprise.abs() < 4.5, "{rate}, {i} and {j}: {surprise}"); // hundreds of pairs
            }
        }
    }
    for part in 0..3 {
        assert_eq!(Dropout::new(0.5, 1).unwrap().pass(part), Dropout::new(0.5, 1).unwrap().part(part));
    }
}

#[test]
fn wrong_rates() {
    for rate in [-0.1, 1.0, 1.5, f32::INFINITY] {
        assert_eq!(Dropout::new(rate, 0), Err(WrongRate { found: rate }));
    }
    assert!(Dropout::new(f32::NAN, 0).is_err());
    let message = "a rate of dropout of 0 or more and below 1 expected, found 1.5";
    assert_eq!(WrongRate { found: 1.5 }.to_string(), message);
    let mut rows = [[1.0; 3]; 2];
    Dropout::NONE.apply(&mut rows, 0);
    assert_eq!(rows, [[1.0; 3]; 2]);
}

/// The errors of the gradients with the dropout `backward`, against differences of the way forward with the dropout `forward`.
fn dropped<L: TrainableLayer<D> + Parameters, const D: usize>(forward: Dropout, backward: Dropout) -> (String, f64) {
    /// Differences of `f32` lose half of their digits; of these, a formula with an error of h⁴ leaves most.
    const H: f32 = 1.0 / 32.0;

    let (mut layer, mut x, dy) = example::<L, D>(5);
    let found = gradients::<L, D, 11, 4>(&layer, &x, &dy, [forward, backward]);
    let mut saved = boxed::<L::Saved<11>>();
    let mut scratch = boxed::<L::GradientScratch<11, 4>>();
    let mut loss = |layer: &L, x: &[[f32; D]]| {
        let mut y = Sequence::<D, 11>::new();
        y.assign(x).unwrap();
        layer.forward_saved(&mut y, &mut saved, &mut scratch, forward);
        dot(dy.as_flattened(), y.tokens().as_flattened().iter().copied().map(f64::from))
    };
    let slope = |mut loss: Box<dyn FnMut(f32) -> f64 + '_>| {
        let mut slope = |h| (loss(h) - loss(-h)) / (2.0 * f64::from(h));
        (4.0 * slope(H) - slope(2.0 * H)) / 3.0
    };

    let mut expected = vec![("x".to_string(), vec![])];
    for i in 0..5 * D {
        let before = x[i / D][i % D];
        let d = slope(Box::new(|h| {
            x[i / D][i % D] = before + h;
            loss(&layer, &x)
        }));
        x[i / D][i % D] = before;
        expected[0].1.push(d);
    }
    for (tensor, (name, numbers)) in found.tensors.iter().enumerate() {
        let mut differences = vec![];
        for i in 0..numbers.len() {
            let before = nudge(&mut *layer, tensor, i, |x| x);
            differences.push(slope(Box::new(|h| {
                nudge(&mut *layer, tensor, i, |_| before + h);
                loss(&layer, &x)
            })));
            nudge(&mut *layer, tensor, i, |_| before);
        }
        expected.push((name.clone(), differences));
    }
    let found: Vec<_> = [("x".to_string(), found.dx)].into_iter().chain(found.tensors).collect();
    worst(&found, &expected, 1e-3)
}

/// Changes the `i`th number, row by row, of a tensor; returns what it was.
fn nudge(model: &mut impl Parameters, tensor: usize, i: usize, change: impl Fn(f32) -> f32) -> f32 {
    let (mut index, mut before) = (0, 0.0);
    model.for_each_tensor_mut(|_, mut found| {
        if index == tensor {
            let columns = *found.shape().dimensions().last().unwrap();
            before = found.get(i / columns, i % columns).unwrap();
            found.set(i / columns, i % columns, change(before));
        }
        index += 1;
    });
    before
}

/// The way back drops what the way forward did; and were it anything else, it would be seen.
#[test]
fn gradients_with_dropout() {
    fn check<L: TrainableLayer<D> + Parameters, const D: usize>() {
        for rate in [0.1, 0.5] {
            let dropout = Dropout::new(rate, 5).unwrap();
            let (name, error) = dropped::<L, D>(dropout.pass(1), dropout.pass(1));
            let (_, other) = dropped::<L, D>(dropout.pass(1), dropout.pass(2));
            let (_, none) = dropped::<L, D>(dropout.pass(1), Dropout::NONE);
            let layer = short::<L>();
            println!(
                "{layer}, {rate} dropped: max error {error:.1e}, of {name}; with other masks {other:.1e}, {none:.1e}"
            );
            assert!(error <= 1e-3 && other > 0.2 && none > 0.1);
        }
    }
    check::<EncoderBlock<Bert, 21, 13, 3>, 21>();
    check::<EncoderBlock<Vit, 21, 13, 7>, 21>();
    check::<DecoderBlock<Llama<HalfSplit>, 24, 13, 6, f32, 2, 8>, 24>();
    check::<Decoder<Gpt2, 2, 21, 13, 3>, 21>();
}
