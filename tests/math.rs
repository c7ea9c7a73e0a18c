//! The functions of numbers against `f64`: the errors stated where they are defined hold, over dense grids, bit patterns of
//! every magnitude and edge values; and so do those of the activations, one by one and at the width of the machine.

mod common;

use common::{larger, naive, random::Random};
use constformer::{
    Activation, FeedForward, FeedForwardScratch, Gelu, GeluTanh, Head, Identity, PositionWise, Relu, Sequence, Silu,
    Tied, TokenEmbedding, Zero,
    machine::{Plain, Single},
    math,
};

/// What is private, in `f64`.
#[path = "../src/math/trigonometry.rs"]
#[expect(dead_code, unreachable_pub, reason = "a module of the library")]
mod trigonometry;

/// A prime, so that the low bits vary too.
const STRIDE: usize = 4093;

/// Every `STRIDE`th bit pattern (all exponents, both signs, NaNs, subnormals), a dense grid from -100 to 100, and edges.
fn numbers() -> impl Iterator<Item = f32> {
    const EDGES: [f32; 9] = [
        0.0,
        f32::from_bits(1),           // the least subnormal
        f32::from_bits(0x007f_ffff), // the greatest
        f32::MIN_POSITIVE,
        f32::EPSILON,
        1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let patterns = (0..=u32::MAX).step_by(STRIDE).map(f32::from_bits);
    let grid = (-200_000..=200_000i32).map(|i| i as f32 * 5e-4);
    patterns.chain(grid).chain(EDGES).chain(EDGES.map(|x| -x))
}

/// The distance between the numbers of `f32` around y.
fn unit_in_the_last_place(y: f64) -> f64 {
    let exponent = libm::ilogb(y).max(-126); // below lie the subnormals, all equally far from each other
    libm::scalbn(1.0, exponent - 23)
}

/// The largest of the errors, and where it is.
fn worst(what: &str, errors: impl Iterator<Item = (f32, f64)>) -> f64 {
    let (x, error) = errors.fold((0.0, 0.0), |a, b| if larger(a.1, b.1).to_bits() == a.1.to_bits() { a } else { b });
    println!("{what}: max error {error:.3e} at {x:e}");
    error
}

/// Relative to the least normal number for results that are subnormal, whose digits are fewer.
fn relative(y: f32, expected: f64) -> f64 {
    absolute(y, expected) / expected.abs().max(f64::from(f32::MIN_POSITIVE))
}

fn absolute(y: f32, expected: f64) -> f64 {
    if f64::from(y) == expected { 0.0 } else { (f64::from(y) - expected).abs() }
}

fn units(y: f32, expected: f64) -> f64 {
    absolute(y, expected) / unit_in_the_last_place(expected)
}

#[test]
fn exp() {
    let inside = || numbers().filter(|x| (-87.33..=88.37).contains(x));
    let errors = |error: fn(f32, f64) -> f64| inside().map(move |x| (x, error(math::exp(x), f64::from(x).exp())));
    assert!(worst("exp, units in the last place", errors(units)) <= 1.2);
    assert!(worst("exp, relative", errors(relative)) <= 1.1e-7);
    for x in numbers() {
        let y = math::exp(x);
        match x {
            _ if x.is_nan() => assert!(y.is_nan(), "exp of {:08x}: {y}", x.to_bits()),
            ..-87.33 => assert_eq!(y.to_bits(), 0, "exp {x}"),
            88.37.. => assert_eq!(y.to_bits(), math::exp(88.37).to_bits(), "exp {x}"),
            _ => {}
        }
    }
    assert!((2.385e38..2.395e38).contains(&math::exp(f32::INFINITY)));
}

/// Of 0 and numbers far below, the sum of the exponentials is 1: softmax is `exp`, at the width of the machine.
#[test]
fn exp_in_softmax() {
    let inside: Vec<f32> = numbers().filter(|x| (-87.33..-22.0).contains(x)).collect();
    let errors = inside.chunks(WIDTH - 1).flat_map(|x| {
        let mut y = x.to_vec();
        y.push(0.0);
        math::softmax(&mut y);
        assert_eq!(y.pop(), Some(1.0));
        x.iter().zip(y).map(|(x, y)| (*x, units(y, f64::from(*x).exp()))).collect::<Vec<_>>()
    });
    assert!(worst("exp in softmax, units in the last place", errors) <= 1.2);
}

#[test]
fn erf() {
    let errors = numbers().filter(|x| !x.is_nan()).map(|x| (x, absolute(math::erf(x), libm::erf(x.into()))));
    assert!(worst("erf", errors) <= 5e-7);
    assert!(numbers().filter(|x| x.is_nan()).all(|x| math::erf(x).is_nan()));
}

#[test]
fn tanh() {
    let errors = numbers().filter(|x| !x.is_nan()).map(|x| (x, relative(math::tanh(x), f64::from(x).tanh())));
    assert!(worst("tanh", errors) <= 2e-7);
    assert!(numbers().filter(|x| x.is_nan()).all(|x| math::tanh(x).is_nan()));
    assert_eq!(math::tanh(-0.0).to_bits(), (-0f32).to_bits());
}

#[test]
fn sqrt() {
    for x in numbers() {
        let (y, expected) = (math::sqrt(x), f64::from(x).sqrt() as f32); // twice the digits: rounded twice is rounded once
        assert!(y.to_bits() == expected.to_bits() || y.is_nan() && expected.is_nan(), "sqrt {x}: {y}");
    }
}

#[test]
fn sin_and_cos() {
    let inside = || numbers().chain((-1_000_000..=1_000_000i32).map(|i| i as f32)).filter(|x| x.abs() <= 1e6);
    let sines = inside().map(|x| (x, units(math::sin(x), f64::from(x).sin())));
    assert!(worst("sin, units in the last place", sines) <= 1.0);
    let cosines = inside().map(|x| (x, units(math::cos(x), f64::from(x).cos())));
    assert!(worst("cos, units in the last place", cosines) <= 1.0);
    for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(math::sin(x).is_nan() && math::cos(x).is_nan());
    }
}

#[test]
fn sines_of_turns() {
    let angles = (-1_000_000..=1_000_000i64).map(|i| i as u64).flat_map(|i| {
        // All of a turn, and near the quarters.
        [i.wrapping_mul(9_223_372_036_855), i.wrapping_shl(38), i.wrapping_add(1 << 62), i.wrapping_add(1 << 61), i]
    });
    let error = angles.fold(0.0, |error: f64, turn| {
        let (sin, cos) = trigonometry::sin_cos_of_turn(turn);
        let eighth = turn.wrapping_add(1 << 60) >> 61; // of a turn, so that the rest keeps its digits
        let rest = turn.wrapping_sub(eighth << 61).cast_signed() as f64 * (std::f64::consts::TAU / 2f64.powi(64));
        let (of_sin, of_cos) = rest.sin_cos();
        let (eighth_sin, eighth_cos) = (eighth as f64 * std::f64::consts::FRAC_PI_4).sin_cos();
        let expected = [of_sin * eighth_cos + of_cos * eighth_sin, of_cos * eighth_cos - of_sin * eighth_sin];
        [sin, cos].into_iter().zip(expected).fold(error, |error, (y, expected)| {
            error.max(absolute(y, expected) - unit_in_the_last_place(expected) / 2.0)
        })
    });
    println!("sin_cos_of_turn: max error beyond rounding {error:.1e}");
    assert!(error <= 1e-15);
}

#[test]
fn sines_and_powers_of_positions() {
    let angles = (-1_000_000..=1_000_000).map(|i| f64::from(i) * 0.999_999);
    let error = angles.fold(0.0, |error: f64, x| {
        let (sin, cos) = trigonometry::sin_cos(x);
        error.max((sin - x.sin()).abs()).max((cos - x.cos()).abs())
    });
    println!("sin_cos: max error {error:.1e}");
    assert!(error <= 1e-12);
    let (sin, cos) = trigonometry::sin_cos(f64::INFINITY);
    assert!(sin.is_nan() && cos.is_nan());

    let exponents = (-160_000..=160_000).map(|i| f64::from(i) * 1e-4);
    let error =
        exponents.fold(0.0, |error: f64, x| error.max((trigonometry::power_of_ten(x) / 10f64.powf(x) - 1.0).abs()));
    println!("power_of_ten: max relative error {error:.1e}");
    assert!(error <= 2e-14);
}

/// The error of the activation `A` for every one of `numbers()` that is finite and at least `low`, one by one and at the
/// width of the machine.
fn check_activation<A: Activation>(
    low: f32,
    expected: fn(f64) -> f64,
    error: fn(y: f32, expected: f64) -> f64,
    bound: f64,
) {
    let inside = || numbers().filter(|x| x.is_finite() && *x >= low);
    let check = |how: &str, apply: fn(f32) -> f32| {
        let what = format!("{}, {how}", A::NAME);
        let error = worst(&what, inside().map(|x| (x, error(apply(x), expected(x.into())))));
        assert!(error <= bound, "{what}: {error:e}");
    };
    check("one lane", |x| A::apply(Single, x));
    check("four lanes", |x| A::apply(Plain, [1.0, x, 2.0, 3.0])[1]);

    let layer = &mut Identities::<A>::new();
    let inside: Vec<f32> = inside().collect();
    let errors = inside.as_chunks().0.iter().flat_map(|x| {
        let y = layer.apply(x);
        std::array::from_fn::<_, WIDTH, _>(|i| (x[i], error(y[i], expected(x[i].into()))))
    });
    let what = format!("{}, in a layer", A::NAME);
    let error = worst(&what, errors);
    assert!(error <= bound, "{what}: {error:e}");

    assert!(layer.apply(&[f32::NAN; WIDTH]).iter().all(|y| y.is_nan()));
    for nan in numbers().filter(|x| x.is_nan()) {
        assert!(A::apply(Single, nan).is_nan() && A::apply(Plain, [1.0, nan, 2.0, 3.0])[1].is_nan());
    }
}

/// Panels of all widths.
const WIDTH: usize = 63;

/// A feed-forward layer whose two matrices are identities: the activation, at the width of the machine.
struct Identities<A: Activation> {
    layer: FeedForward<WIDTH, WIDTH, A>,
    tokens: Sequence<WIDTH, 1>,
    scratch: FeedForwardScratch<WIDTH, 1>,
}

impl<A: Activation> Identities<A> {
    fn new() -> Self {
        let mut layer = FeedForward::<WIDTH, WIDTH, A>::ZERO;
        for i in 0..WIDTH {
            layer.inner.weight.set(i, i, 1.0);
            layer.outer.weight.set(i, i, 1.0);
        }
        Self { layer, tokens: Sequence::new(), scratch: Zero::ZERO }
    }

    fn apply(&mut self, x: &[f32; WIDTH]) -> [f32; WIDTH] {
        self.tokens.assign(&[*x]).unwrap();
        self.layer.forward(&mut self.tokens, &mut self.scratch);
        self.tokens.tokens()[0]
    }
}

#[test]
fn identity_and_relu() {
    check_activation::<Identity>(f32::MIN, |x| x, absolute, 0.0);
    check_activation::<Relu>(f32::MIN, naive::relu, absolute, 0.0);
}

#[test]
fn gelu() {
    check_activation::<Gelu>(f32::MIN, naive::gelu, absolute, 6e-7);
}

#[test]
fn gelu_tanh() {
    check_activation::<GeluTanh>(f32::MIN, naive::gelu_tanh, absolute, 6e-7);
}

#[test]
fn silu() {
    check_activation::<Silu>(-87.0, naive::silu, relative, 3e-7);
    // Below, e⁻ˣ soon is more than an `f32` can hold.
    for x in [-87.5, -88.5, -1e3, -1e30, f32::MIN, f32::NEG_INFINITY] {
        let y = Silu::apply(Single, x);
        assert!((-1e-35..=0.0).contains(&y), "silu {x}: {y}");
    }
}

#[test]
fn softmax() {
    let mut random = Random(1);
    for (n, spread) in (1..=99).flat_map(|n| [0.1, 3.0, 40.0].map(|spread| (n, spread))) {
        let x: Vec<f32> = (0..n).map(|_| spread * random.number()).collect();
        let mut y = x.clone();
        math::softmax(&mut y);
        let max = x.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = x.iter().map(|x| (f64::from(*x) - f64::from(max)).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            let below = f64::from(max) - f64::from(*x);
            let expected = (-below).exp() / sum;
            let bound = f64::from(f32::EPSILON) / 2.0 * (2.0 * f64::from(n) + 6.0 + below) * expected;
            let error = absolute(y, expected);
            assert!(error <= bound + f64::from(f32::MIN_POSITIVE), "{n} scores, {below} below the first: {error:e}");
        }
    }
}

/// Every logit is the product of its row, and has the same bits wherever that is.
#[test]
fn tied_head() {
    fn check<const D: usize>() {
        let mut random = Random(2);
        let mut embedding = TokenEmbedding::<11, D>::ZERO;
        embedding.weight.rows.as_flattened_mut().fill_with(|| random.number());
        let x = std::array::from_fn(|_| random.number());
        let [mut y, mut turned] = [[0.0; 11]; 2];
        Tied.logits(&embedding, &x, &mut y);
        for (row, y) in embedding.weight.rows.iter().zip(y) {
            let terms = || row.iter().zip(&x).map(|(w, x)| f64::from(*w) * f64::from(*x));
            let bound = f64::from(f32::EPSILON) / 2.0 * (D + 1) as f64 * terms().map(f64::abs).sum::<f64>();
            assert!(absolute(y, terms().sum()) <= bound, "width {D}");
        }
        for turns in 1..11 {
            embedding.weight.rows.rotate_left(1);
            Tied.logits(&embedding, &x, &mut turned);
            turned.rotate_right(turns);
            assert_eq!(turned.map(f32::to_bits), y.map(f32::to_bits), "width {D}");
        }
    }

    check::<1>();
    check::<7>();
    check::<16>();
    check::<31>();
    check::<61>();
    check::<64>();
    check::<67>();
}

#[test]
fn softmax_of_what_is_masked_or_not_a_number() {
    const MASKED: f32 = f32::NEG_INFINITY;
    for len in 0..40 {
        let mut x = vec![MASKED; len];
        math::softmax(&mut x);
        assert_eq!(x, vec![0.0; len]);
        for at in 0..len {
            let mut x = vec![MASKED; len];
            x[at] = 88.0;
            math::softmax(&mut x);
            assert!(x.iter().enumerate().all(|(i, y)| *y == if i == at { 1.0 } else { 0.0 }));

            for nan in [f32::NAN.to_bits(), u32::MAX] {
                let mut x = vec![1.0; len];
                x[at] = f32::from_bits(nan);
                math::softmax(&mut x);
                assert!(x.iter().all(|y| y.is_nan()), "{nan:08x} at {at} of {len}");
            }
        }
    }
}
