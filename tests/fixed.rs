//! Functions of fixed-point numbers against the same in `f64`.

use constformer::math::fixed::{from_f32, gelu, gelu_tanh, layer_norm, silu, softmax, to_f32};

/// Numbers of -1 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn value(x: i32) -> f64 {
    f64::from(x) / 65536.0
}

fn erf(x: f64) -> f64 {
    // A series of positive terms, so none cancels another.
    let (mut sum, mut term, mut n) = (x, x, 0.0);
    while term.abs() > 1e-17 && n < 400.0 {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn conversions() {
    for x in [0.0, 1.0, -1.0, 0.5, 1.5e-5, -1.5e-5, 7.7e-6, -7.5e-6, 123.456, -32767.99, 32767.0, 3e-39, 255.998] {
        let expected = (f64::from(x) * 65536.0 + if x < 0.0 { -0.5 } else { 0.5 }).trunc() as i32;
        assert_eq!(from_f32(x), expected, "{x}");
    }
    assert_eq!([1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY].map(from_f32), [i32::MAX, i32::MIN, i32::MAX, i32::MIN]);
    assert_eq!([32768.0, -32768.0].map(from_f32), [i32::MAX, i32::MIN]);
    assert_eq!((from_f32(f32::NAN), from_f32(-0.0)), (0, 0));
    assert_eq!([65536, -32768, i32::MIN].map(to_f32), [1.0, -0.5, -32768.0]);
    for x in (i32::MIN..=i32::MAX).step_by(4_099).chain([(1 << 30) + 65, 1, -1, i32::MAX]) {
        assert_eq!(to_f32(x), x as f32 / 65_536.0); // the nearest
    }
    let mut random = Random(1);
    for _ in 0..100_000 {
        let x = (100.0 * random.next()) as f32;
        assert!((value(from_f32(x)) - f64::from(x)).abs() <= 0.500_001 / 65536.0, "{x}");
    }
}

#[test]
fn activations() {
    type Case = (fn(i32) -> i32, fn(f64) -> f64, f64);
    let cases: [Case; 3] = [
        (gelu, |x| x * (1.0 + erf(x / 2f64.sqrt())) / 2.0, 1.5e-4),
        (
            gelu_tanh,
            |x| x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()) / 2.0,
            1.5e-4,
        ),
        (silu, |x| x / (1.0 + (-x).exp()), 3e-4),
    ];
    for (number, (found, expected, bound)) in cases.into_iter().enumerate() {
        let mut greatest = 0f64;
        for x in (-40 * 65536..=40 * 65536).step_by(97) {
            let reference = if value(x).abs() < 9.0 || number == 2 { expected(value(x)) } else { value(x).max(0.0) };
            greatest = greatest.max((value(found(x)) - reference).abs());
        }
        println!("activation {number}: within {greatest:.1e}");
        assert!(greatest < bound, "{greatest:e}");
        assert_eq!((found(i32::MAX), found(i32::MIN), found(0)), (i32::MAX, 0, 0));
    }
}

#[test]
fn softmax_of_scores() {
    let mut random = Random(2);
    let mut greatest = 0f64;
    for (len, spread) in
        [1, 2, 3, 7, 64, 99, 1000, 32768].into_iter().flat_map(|len| [0.0, 0.1, 3.0, 30.0, 10000.0].map(|s| (len, s)))
    {
        let mut x: Vec<i32> = (0..len).map(|_| (spread * random.next() * 65536.0) as i32).collect();
        let max = *x.iter().max().unwrap();
        let exponentials: Vec<f64> = x.iter().map(|x| (value(*x) - value(max)).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        softmax(&mut x);
        for (y, e) in x.iter().zip(exponentials) {
            greatest = greatest.max((value(*y) - e / sum).abs());
            assert!(*y >= 0);
        }
    }
    // One high score and a long tail of low ones.
    for (len, low) in
        [17, 64, 99, 512, 8192, 32768].into_iter().flat_map(|len| [-5.0, -9.0, -11.1, -14.0].map(|low| (len, low)))
    {
        let mut x = vec![from_f32(low); len];
        x[0] = 0;
        softmax(&mut x);
        let sum = 1.0 + (len - 1) as f64 * f64::from(low).exp();
        greatest = greatest.max((value(x[0]) - 1.0 / sum).abs()).max((value(x[1]) - f64::from(low).exp() / sum).abs());
    }
    println!("softmax within {greatest:.1e}");
    assert!(greatest < 1e-4);
    softmax(&mut []);
    let mut extremes = [i32::MIN, i32::MAX, i32::MAX];
    softmax(&mut extremes);
    assert_eq!(extremes[0], 0);
    assert!(extremes[1..].iter().all(|y| (value(*y) - 0.5).abs() < 1e-4));
    let mut beyond = vec![0; 32769];
    softmax(&mut beyond);
    assert_eq!(beyond[32768], 0);
}

#[test]
fn norm_of_tokens() {
    let mut greatest = 0f64;
    greatest = greatest.max(check_norm::<1>());
    greatest = greatest.max(check_norm::<2>());
    greatest = greatest.max(check_norm::<3>());
    greatest = greatest.max(check_norm::<7>());
    greatest = greatest.max(check_norm::<64>());
    greatest = greatest.max(check_norm::<384>());
    greatest = greatest.max(check_norm::<1023>());
    println!("layer norm within {greatest:.1e}");
    assert!(greatest < 1e-4);
    layer_norm(&mut [], &[], &[], 1e-5);
    let mut same = [i32::MAX; 5];
    layer_norm(&mut same, &[65536; 5], &[7; 5], 1e-5);
    assert_eq!(same, [7; 5]);
    let mut two = [0, 1];
    layer_norm(&mut two, &[65536; 2], &[0; 2], 0.0);
    assert!((value(two[0]) + 1.0).abs() < 1e-4 && (value(two[1]) - 1.0).abs() < 1e-4, "{two:?}");
    for epsilon in [-1.0, f32::NAN, f32::INFINITY, 1e38, 1e-45] {
        layer_norm(&mut [1, -5, i32::MIN], &[65536; 3], &[9; 3], epsilon); // no panic
    }
}

/// The greatest error, over 1 + |γ| (1 + |x̂|).
fn check_norm<const D: usize>() -> f64 {
    let mut random = Random(3);
    let mut greatest = 0f64;
    let tokens = [(0.0, 1.0), (0.0, 0.01), (0.3, 1e-4), (5.0, 0.5), (-300.0, 100.0), (0.0, 12000.0), (2.0, 0.0)];
    for (centre, spread) in tokens {
        for (gain, epsilon) in
            [(1.0, 1e-5f32), (20.0, 1e-5), (1.0, 1e-12), (0.1, 0.0), (1.0, 1e-3), (1.0, 0.1), (1.0, 30.0), (1.0, 1e6)]
        {
            let mut numbers = |centre: f64, spread: f64| -> [i32; D] {
                std::array::from_fn(|_| ((centre + spread * random.next()) * 65536.0) as i32)
            };
            let (x, weight, bias) = (numbers(centre, spread), numbers(gain, gain), numbers(0.0, 1.0));
            let mean = x.iter().map(|x| value(*x)).sum::<f64>() / D as f64;
            let variance = x.iter().map(|x| (value(*x) - mean).powi(2)).sum::<f64>() / D as f64;
            if variance == 0.0 && epsilon == 0.0 {
                continue;
            }
            let mut y = x;
            layer_norm(&mut y, &weight, &bias, epsilon);
            for ((y, x), (weight, bias)) in y.iter().zip(&x).zip(weight.iter().zip(&bias)) {
                let normal = (value(*x) - mean) / (variance + f64::from(epsilon)).sqrt();
                let expected = value(*weight) * normal + value(*bias);
                let scale = 1.0 + value(*weight).abs() * (1.0 + normal.abs());
                greatest = greatest.max((value(*y) - expected).abs() / scale);
            }
        }
    }
    greatest
}
