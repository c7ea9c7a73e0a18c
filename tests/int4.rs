//! The format `Int4`: products against their definition, quantisation, images.

mod common;

use common::random::Random;
use constformer::{
    Bert, Boxed, Encoder, FeedForward, Format, Int4, Int8, Int8Cache, KnownWidth, Layer, Linear, NoBias, Parameters,
    Plan, Relu, Scratch, Sequence, Shape, Vit, Width, Zero, boxed, image, quantize, quantize_to,
    zerocopy::{FromBytes, IntoBytes},
};

/// Numbers of a group, which have a factor of their own.
const GROUP: usize = 32;

/// A token in integers and its scale, as the documentation of `Int8` has it.
fn quantized(x: &[f32]) -> (Vec<i64>, f32) {
    let greatest = x.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    let inverse = if greatest > 0.0 { 127.0 / greatest } else { 0.0 };
    (x.iter().map(|x| (x * inverse).round_ties_even() as i64).collect(), greatest * (1.0 / 127.0))
}

/// A row of weights: f q of each, and s, as the documentation has them, in `f64`.
fn quantized_row(row: &[f32]) -> (Vec<i64>, f64) {
    let greatest = |x: &[f32]| x.iter().fold(0.0, |max: f64, x| max.max(f64::from(*x).abs()));
    let scale = greatest(row) / 1785.0;
    let integers = row.chunks(GROUP).flat_map(|group| {
        let factor = (greatest(group) / (7.0 * scale) * (1.0 - 1e-6)).ceil();
        group.iter().map(move |w| (f64::from(*w) / (scale * factor)).round() as i64 * factor as i64)
    });
    (integers.collect(), scale)
}

/// Widths of every remainder, of less than a byte, a group and a vector and more; every number of rows that is left over.
macro_rules! for_each_shape {
    ($check:ident) => {
        $check::<1, 1>();
        $check::<2, 3>();
        $check::<3, 2>();
        $check::<13, 11>();
        $check::<31, 33>();
        $check::<32, 16>();
        $check::<33, 7>();
        $check::<64, 17>();
        $check::<67, 61>();
        $check::<127, 5>();
        $check::<1367, 5>();
    };
}

#[test]
fn products_are_sums_of_integers() {
    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut random = Random(7);
        let mut linear = boxed::<Linear<IN, OUT>>();
        random.fill(&mut *linear);
        let integers: Boxed<Linear<IN, OUT, Int4>> = quantize(&*linear);
        let rows: Vec<Vec<f32>> =
            (0..OUT).map(|o| (0..IN).map(|i| linear.weight.get(i, o).unwrap()).collect()).collect();
        for len in 0..=9 {
            let tokens = random.tokens::<IN>(len);
            let mut x = boxed::<Sequence<IN, 9>>();
            x.assign(&tokens).unwrap();
            let mut y = boxed::<Sequence<OUT, 9>>();
            integers.forward(&x, &mut y);
            assert_eq!(y.len(), len);
            for (x, y) in tokens.iter().zip(y.tokens()) {
                let (x, of_token) = quantized(x);
                for (o, row) in rows.iter().enumerate() {
                    let (w, of_row) = quantized_row(row);
                    let sum: i64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
                    let magnitude: i64 = x.iter().zip(&w).map(|(x, w)| (x * w).abs()).sum();
                    let scale = f64::from(of_token) * of_row;
                    let error = f64::from(y[o]) - (sum as f64 * scale + f64::from(linear.bias[o]));
                    // Of the sum the rounding of two scales and a bias; a wrong integer would be off by more.
                    assert!(error.abs() <= 1e-6 * (magnitude as f64 * scale + 1.0), "{IN} x {OUT}, {o}: {error:e}");
                }
            }
        }
    }
    for_each_shape!(check);
}

/// By half a step of its group; the greatest of each group by little.
#[test]
fn a_weight_is_off_by_half_a_step_at_most() {
    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut linear = boxed::<Linear<IN, OUT, f32, NoBias>>();
        let mut random = Random(3);
        // Groups of very different magnitudes.
        random.fill(&mut *linear);
        linear.for_each_tensor_mut(|_, mut tensor| {
            let group = |i: usize| 1.0 / (1 << (i % IN / GROUP % 5)) as f32;
            let numbers: Vec<f32> = tensor.row_major().enumerate().map(|(i, w)| group(i) * w).collect();
            tensor.set_row_major(numbers.into_iter()).unwrap();
        });
        let integers: Boxed<Linear<IN, OUT, Int4, NoBias>> = quantize(&*linear);
        integers.for_each_tensor(|name, tensor| {
            assert_eq!((name.to_string(), tensor.shape()), ("weight".into(), Shape::Matrix([OUT, IN])));
            for o in 0..OUT {
                let row: Vec<_> = (0..IN).map(|i| linear.weight.get(i, o).unwrap()).collect();
                let greatest = |row: &[f32]| row.iter().fold(0f32, |max, w| max.max(w.abs()));
                for (g, group) in row.chunks(GROUP).enumerate() {
                    // The factor is a whole number, so a step is up to a scale more than a seventh.
                    let step = greatest(group) / 7.0 + greatest(&row) / 1785.0;
                    for (i, weight) in (g * GROUP..).zip(group) {
                        let found = tensor.get(o, i).unwrap();
                        assert!((found - weight).abs() <= 0.5001 * step, "{found} for {weight}, step {step}");
                    }
                }
            }
        });
        assert_eq!(integers.weight.get(0, OUT), None);
        assert_eq!(integers.weight.get(IN, 0), None);

        // What is quantised already stays.
        let mut again = boxed::<Linear<IN, OUT, Int4, NoBias>>();
        quantize_to(&*integers, &mut *again);
        for (i, o) in (0..IN).flat_map(|i| (0..OUT).map(move |o| (i, o))) {
            let (once, twice) = (integers.weight.get(i, o).unwrap(), again.weight.get(i, o).unwrap());
            assert!((once - twice).abs() <= 2e-3 * once.abs(), "{once} {twice}");
        }
    }
    for_each_shape!(check);
}

#[test]
fn extreme_numbers() {
    let mut linear = Linear::<3, 2, Int4>::ZERO;
    assert_eq!(linear.apply(&[1.0, -2.0, 3.0]), [0.0, 0.0]);

    let mut weights = Linear::<3, 2>::ZERO;
    weights.weight.copy_from_out_in(&[[f32::MAX, -f32::MAX, 0.0], [1e-40, 0.0, 1e-38]]);
    quantize_to(&weights, &mut linear);
    assert!((linear.weight.get(0, 0).unwrap() / f32::MAX - 1.0).abs() < 1e-6);
    assert!((linear.weight.get(1, 0).unwrap() / f32::MAX + 1.0).abs() < 1e-6);
    assert!(linear.weight.get(0, 1).unwrap().abs() < 1e-38);
    assert_eq!(linear.apply(&[0.0; 3]), [0.0; 2]);

    // What is not a number is not lost.
    weights.weight.copy_from_out_in(&[[1.0, 1.0, 1.0], [1.0, f32::NAN, 1.0]]);
    quantize_to(&weights, &mut linear);
    let [one, other] = linear.apply(&[1.0; 3]);
    assert!((one - 3.0).abs() < 1e-5 && other.is_nan());
    assert!(linear.apply(&[1.0, f32::NAN, 1.0]).iter().all(|y| y.is_nan()));
    assert!(linear.apply(&[1.0, f32::INFINITY, 1.0]).iter().all(|y| !y.is_finite()));
}

/// Whatever its bits are, a NaN is no integer that overflows.
#[test]
fn every_nan_is_lost_in_no_sum() {
    fn check<T: Format>() {
        let mut weights = boxed::<Linear<640, 4, f32, NoBias>>();
        weights.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill(1.0));
        let linear: Boxed<Linear<640, 4, T, NoBias>> = quantize(&*weights);
        for bits in [0x7fff_7fff, 0x7f80_8000, 0xffff_7fff] {
            let token = [f32::from_bits(bits); 640];
            assert!(linear.apply(&token).iter().all(|y| y.is_nan()));
            let mut x = boxed::<Sequence<640, 5>>();
            x.assign(&[token; 5]).unwrap();
            let mut y = Sequence::<4, 5>::new();
            linear.forward(&x, &mut y);
            assert!(y.tokens().as_flattened().iter().all(|y| y.is_nan()));
        }
    }
    check::<Int4>();
    check::<Int8>();

    let mut model = boxed::<Encoder<Bert, 2, 64, 96, 2>>();
    Random(1).fill(&mut *model);
    let model: Boxed<Encoder<Bert, 2, 64, 96, 2, Int8Cache<Int4>>> = quantize(&*model);
    let mut x = boxed::<Sequence<64, 40>>();
    x.assign(&[[f32::from_bits(0x7fff_7fff); 64]; 40]).unwrap();
    model.forward(&mut x, &mut boxed::<Scratch<64, 96, 40, 4, 64, i8>>());
    assert!(x.tokens().as_flattened().iter().all(|x| x.is_nan()));
}

/// The greatest sum that there is fits: all integers of the greatest magnitude, as many as are allowed.
#[test]
fn the_greatest_sum() {
    static TOKEN: [f32; 8288] = [127.0; 8288];
    let mut weights = boxed::<Linear<8288, 1, f32, NoBias>>();
    weights.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill(7.0));
    let linear: Boxed<Linear<8288, 1, Int4, NoBias>> = quantize(&*weights);
    let mut x = boxed::<Sequence<8288, 1>>();
    x.push(&TOKEN).unwrap();
    let mut y = Sequence::<1, 1>::new();
    linear.forward(&x, &mut y);
    assert!((y.tokens()[0][0] / (7.0 * 127.0 * 8288.0) - 1.0).abs() < 1e-6);

    // And of -8, which an image may hold though nothing is quantised to it, with the greatest factor.
    let mut numbers = [0x8888_8888; size_of::<Linear<8288, 1, Int4, NoBias>>() / 4];
    numbers[0] = 1f32.to_bits();
    numbers.as_mut_bytes()[4..4 + 8288 / GROUP].fill(255);
    let linear = Linear::<8288, 1, Int4, NoBias>::ref_from_bytes(numbers.as_bytes()).unwrap();
    linear.forward(&x, &mut y);
    assert!((y.tokens()[0][0] / (-8.0 * 255.0 * 127.0 * 8288.0) - 1.0).abs() < 1e-6);
}

/// Numbers can be set one by one, with the step that their group has.
#[test]
fn single_weights() {
    let mut linear = Linear::<34, 1, Int4, NoBias>::ZERO;
    linear.for_each_tensor_mut(|_, mut tensor| {
        tensor.set(0, 0, 1.0);
        assert_eq!(tensor.get(0, 0), Some(0.0)); // nothing else has the scale 0
        tensor.set_row_major((0..34).map(|i| if i == 0 { 0.7 } else { (i / 33) as f32 * 7.0 })).unwrap();
        tensor.set(0, 1, -0.2);
        tensor.set(0, 32, 2.0);
        tensor.set(0, 34, 9.0);
        tensor.set(1, 0, 9.0);
        assert!(tensor.stored_mut().is_empty() && tensor.stored().is_empty());
        assert!(tensor.set_row_major([1.0].into_iter()).is_err());
    });
    let near = |i, expected: f32| (linear.weight.get(i, 0).unwrap() - expected).abs() < 0.02 * expected.abs();
    assert!(near(0, 0.7) && near(1, -0.2) && near(32, 2.0) && near(33, 7.0));
    // A number that is none becomes some integer, and nothing of others.
    linear.for_each_tensor_mut(|_, mut tensor| tensor.set(0, 1, f32::from_bits(0x7fc0_007f)));
    assert!((linear.weight.get(0, 0).unwrap() - 0.7).abs() < 0.02);
    linear.for_each_tensor_mut(|_, mut tensor| tensor.set(0, 1, 100.0));
    assert!((linear.weight.get(1, 0).unwrap() - 0.7).abs() < 0.02); // no more than its group allows
}

fn bytes<M: Parameters>(model: &M) -> Vec<u8> {
    let mut bytes = vec![];
    image::encode(model, |part| bytes.extend_from_slice(part));
    bytes
}

type Odd<T = f32> = FeedForward<5, 33, Relu, T>;

#[test]
fn images() {
    let mut model = Odd::<f32>::ZERO;
    Random(5).fill(&mut model);
    let integers: Boxed<Odd<Int4>> = quantize(&model);
    // Scales, factors and pairs of integers up to a multiple of four, biases.
    assert_eq!(size_of::<Odd<Int4>>(), 4 * 33 + 33 * (1 + 3) + 4 * 33 + 4 * 5 + (5 * (2 + 17) + 1) + 4 * 5);
    assert_eq!(Odd::<Int4>::COUNT, Odd::<f32>::COUNT);
    assert_ne!(Odd::<Int4>::FINGERPRINT, Odd::<f32>::FINGERPRINT);
    assert_ne!(Odd::<Int4>::FINGERPRINT, Odd::<Int8>::FINGERPRINT);
    assert_eq!(Odd::<Int4>::STRUCTURE, Odd::<f32>::STRUCTURE);

    let image = bytes(&*integers);
    let path = std::env::temp_dir().join(format!("constformer-int4-{}.cfm", std::process::id()));
    image::write(&path, &*integers).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), image);
    let read = image::read::<Odd<Int4>>(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bytes(&*read), image);

    let mut room = vec![0u32; image.len() / 4 + 1];
    let room = room.as_mut_bytes();
    room[..image.len()].copy_from_slice(&image);
    let in_place = image::from_bytes::<Odd<Int4>>(&room[..image.len()]).unwrap();
    assert_eq!(bytes(in_place), image);
    assert!(matches!(image::from_bytes::<Odd<Int8>>(&room[..image.len()]), Err(image::ImageError::Structure { .. })));
}

/// A model in integers is the model, but for their rounding.
#[test]
fn a_stack_is_near_that_in_f32() {
    type Model<T = f32> = Encoder<Vit, 3, 32, 64, 4, T>;
    let mut model = boxed::<Model>();
    let mut random = Random(11);
    random.fill(&mut *model);
    let integers: Boxed<Model<Int4>> = quantize(&*model);
    const { assert!(Plan::<Model<Int4>, 9>::FLASH * 9 < Plan::<Model, 9>::FLASH * 2) };

    let tokens = random.tokens::<32>(9);
    let [mut x, mut y] = [boxed::<Sequence<32, 9>>(), boxed::<Sequence<32, 9>>()];
    x.assign(&tokens).unwrap();
    y.assign(&tokens).unwrap();
    let mut scratch = boxed::<Scratch<32, 64, 9>>();
    model.forward(&mut x, &mut scratch);
    integers.forward(&mut y, &mut scratch);
    let error = common::max_error(y.tokens().as_flattened(), x.tokens().as_flattened().iter().map(|x| f64::from(*x)));
    println!("within {error:.1e} of the model in f32");
    assert!(error < 1.0 && error > 1e-3);
}
