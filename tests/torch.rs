//! Encoders and functions against PyTorch, which computed `golden/torch_*.safetensors` in `f64` from parameters and inputs
//! of `f32`: `reference/torch_encoder.py`.

mod common;

use common::golden::{Golden, Values};
use constformer::{
    Activation, Bidirectional, Causal, Encoder, Family, FeedForward, FeedForwardScratch, Gelu, GeluTanh, KnownWidth,
    Layer, LayerNorm, Linear, NoBias, NoNorm, Norm, Placement, PositionWise, PostLn, PreLn, Relu, RmsNorm, Scratch,
    Sequence, Silu, SplitInto, Width, WithBias, Zero, boxed, machine, math,
};
use typenum::{U5, U6, U12};

common::families! {
    PostRelu: PostLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    PostGelu: PostLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final NoNorm;
    PreRelu: PreLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
    PreGelu: PreLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>, final NoNorm;
    PreGeluNorm: PreLn, LayerNorm<D_MODEL, U5>, Bidirectional, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>,
        final LayerNorm<D_MODEL, U5>;
    CausalNorm: PreLn, LayerNorm<D_MODEL, U5>, Causal, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T>,
        final LayerNorm<D_MODEL, U5>;
    Unbiased: PreLn, LayerNorm<D_MODEL, U5, NoBias>, Bidirectional, NoBias, FeedForward<D_MODEL, D_FF, Gelu, T, NoBias>,
        final NoNorm;
}

const SEQ_LEN: usize = 13;

#[test]
fn encoders() {
    let mut golden = Golden::open("torch_encoder.safetensors");
    check::<PostRelu, 1, 21, 35, 3>(&mut golden, "post_relu", &[1, 11, 13]);
    check::<PreGeluNorm, 2, 21, 35, 3>(&mut golden, "pre_gelu", &[1, 11, 13]);
    check::<PostGelu, 3, 21, 35, 7>(&mut golden, "post_gelu", &[2, 13]);
    check::<PreRelu, 1, 13, 29, 13>(&mut golden, "pre_relu", &[5, 7]);
    check::<CausalNorm, 2, 21, 35, 3>(&mut golden, "causal", &[1, 11]);
    check::<PostGelu, 2, 21, 35, 3>(&mut golden, "padded", &[3, 8, 13]);
    check::<PostRelu, 1, 21, 35, 3>(&mut golden, "extreme_large", &[7]);
    check::<PostRelu, 1, 21, 35, 3>(&mut golden, "extreme_small", &[7]);
    check::<PreGelu, 1, 21, 35, 3>(&mut golden, "extreme_mixed", &[7]);
    check::<Unbiased, 2, 13, 29, 1>(&mut golden, "no_bias", &[6]);
    assert!(golden.tensors.is_empty(), "cases that are not tested");
}

fn check<F: Family, const LAYERS: usize, const D_MODEL: usize, const D_FF: usize, const HEADS: usize>(
    golden: &mut Golden,
    name: &str,
    lengths: &[usize],
) where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let about = format!(
        r#""{name}": {{"layers": {LAYERS}, "d_model": {D_MODEL}, "d_ff": {D_FF}, "heads": {HEADS}, "norm_first": {}"#,
        F::Placement::NORM_FIRST
    );
    assert!(golden.reference.contains(&about), "{about}");

    let mut case = golden.part(&format!("{name}."));
    let (mut inputs, mut outputs) = (case.part("input."), case.part("output."));
    let mut model = boxed::<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>>();
    case.from_torch().load(&mut *model).unwrap();
    let mut scratch = boxed::<Scratch<D_MODEL, D_FF, SEQ_LEN>>();
    for (i, len) in lengths.iter().enumerate() {
        let mut x = Sequence::<D_MODEL, SEQ_LEN>::new();
        x.assign(&inputs.take(&i.to_string()).rows()).unwrap();
        model.forward(&mut x, &mut scratch);
        let expected = outputs.take(&i.to_string());
        assert_eq!(expected.shape, [*len, D_MODEL]);
        // Outputs of magnitude 10⁴ have a last place of 10⁻³: the error is a part of the magnitude.
        let magnitude = expected.numbers.iter().fold(1.0, |max, y| y.abs().max(max));
        let magnitude = if name.starts_with("extreme_") { magnitude } else { 1.0 };
        let error = common::max_error(x.tokens().as_flattened(), expected.numbers) / magnitude;
        println!("{name}, {len} tokens: max error {error:.1e}");
        assert!(error < 2e-5);
    }
    assert!(inputs.tensors.is_empty() && outputs.tensors.is_empty(), "inputs or outputs that are not tested");
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let case = Golden::open("torch_encoder.safetensors").part("post_relu.layers.0.linear1.");
    let load = |case: Golden| case.load(&mut *boxed::<Linear<21, 35>>());
    assert_eq!(load(case.clone()), Ok(()));

    let mut missing = case.clone();
    missing.take("bias");
    assert_eq!(load(missing), Err("bias is missing".into()));

    let mut turned = case.clone();
    turned.tensors.get_mut("weight").unwrap().shape.reverse();
    assert_eq!(load(turned), Err("weight is of shape [21, 35] and not [35, 21]".into()));

    let mut more = case.clone();
    more.tensors.insert("gate".into(), Values { shape: vec![1], numbers: vec![0.0] });
    assert_eq!(load(more), Err("gate is left over".into()));
}

#[test]
fn activations() {
    let mut golden = Golden::open("torch_functions.safetensors").part("activation.");
    let x = golden.take("x").to_f32();
    check_activation::<Relu>(&x, &golden.take("relu"), 0.0);
    check_activation::<Gelu>(&x, &golden.take("gelu_erf"), 1.5e-6);
    check_activation::<GeluTanh>(&x, &golden.take("gelu_tanh"), 1e-6);
    check_activation::<Silu>(&x, &golden.take("silu"), 1e-6);
    assert!(golden.tensors.is_empty());
}

/// `bound` is relative to values beyond 1, where `f32` cannot be better.
fn check_activation<A: Activation>(x: &[f32], expected: &Values, bound: f64) {
    let one: Vec<f32> = x.iter().map(|x| A::apply(machine::Single, *x)).collect();
    // A layer of identities: f at the width of the machine.
    let mut layer = FeedForward::<41, 41, A>::ZERO;
    for i in 0..41 {
        layer.inner.weight.set(i, i, 1.0);
        layer.outer.weight.set(i, i, 1.0);
    }
    let mut tokens = Sequence::<41, 10>::new();
    tokens.assign(x.as_chunks().0).unwrap();
    layer.forward(&mut tokens, &mut boxed::<FeedForwardScratch<41>>());
    for (kind, y) in [("one by one", &one[..]), ("in a layer", tokens.tokens().as_flattened())] {
        let magnitude = |y: &f64| y.abs().max(1.0);
        let scaled = y.iter().zip(&expected.numbers).map(|(y, e)| (f64::from(*y) / magnitude(e)) as f32);
        let error = common::max_error(&scaled.collect::<Vec<_>>(), expected.numbers.iter().map(|e| e / magnitude(e)));
        println!("{} {kind}: max error {error:.1e}", A::NAME);
        assert!(error <= bound);
    }
}

#[test]
fn norms() {
    let golden = &mut Golden::open("torch_functions.safetensors");
    let [weight, bias] = ["norm.weight", "norm.bias"].map(|name| golden.take(name).rows()[0]);
    let x = &golden.take("norm.x").rows();

    let mut affine = LayerNorm::<13, U5>::ONE;
    check_norm(&affine, x, golden, "layer_norm.plain.1e-5");
    (affine.weight, affine.bias) = (weight, bias);
    check_norm(&affine, x, golden, "layer_norm.affine.1e-5");
    let mut affine = LayerNorm::<13, U12>::ONE;
    check_norm(&affine, x, golden, "layer_norm.plain.1e-12");
    (affine.weight, affine.bias) = (weight, bias);
    check_norm(&affine, x, golden, "layer_norm.affine.1e-12");

    let mut unbiased = LayerNorm::<13, U5, NoBias>::ONE;
    unbiased.weight = weight;
    check_norm(&unbiased, x, golden, "layer_norm.weight.1e-5");
    let mut unbiased = LayerNorm::<13, U12, NoBias>::ONE;
    unbiased.weight = weight;
    check_norm(&unbiased, x, golden, "layer_norm.weight.1e-12");

    let mut rms_norm = RmsNorm::<13, U6>::ONE;
    rms_norm.weight = weight;
    check_norm(&rms_norm, x, golden, "rms_norm.weight.1e-6");
    assert!(!golden.tensors.keys().any(|name| name.contains("norm")), "norms that are not tested");
}

fn check_norm(norm: &impl Norm<13>, x: &[[f32; 13]], golden: &mut Golden, name: &str) {
    let mut y = x.to_vec();
    norm.forward(&mut y);
    let expected = golden.take(name);
    assert_eq!(expected.shape, [x.len(), 13]);
    let epsilon: f64 = name.rsplit('.').next().unwrap().parse().unwrap();
    for (row, ((x, y), expected)) in x.iter().zip(&y).zip(expected.numbers.chunks(13)).enumerate() {
        // The mean is known to a last place of the features, which is much if they are far from zero and close together.
        let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / 13.0;
        let variance = x.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / 13.0;
        let bound = 1e-6 + f64::from(f32::EPSILON) * mean.abs() / (variance + epsilon).sqrt();
        let error = common::max_error(y, expected.iter().copied());
        println!("{name}, row {row}: max error {error:.1e}, bound {bound:.1e}");
        assert!(error < bound);
    }
}

#[test]
fn softmax() {
    let mut golden = Golden::open("torch_functions.safetensors").part("softmax.");
    for n in [1, 7, 17, 64] {
        let (mut x, y) = (golden.take(&format!("x.{n}")).to_f32(), golden.take(&format!("y.{n}")));
        x.chunks_mut(n).for_each(math::softmax);
        let error = common::max_error(&x, y.numbers);
        println!("softmax of {n}: max error {error:.1e}");
        assert!(error < 1e-6);
    }
    assert!(golden.tensors.is_empty());
}
