//! The format `Int8`: products against their definition, quantisation, images.

mod common;

use common::random::Random;
use constformer::{
    Boxed, Encoder, FeedForward, Int8, KnownWidth, Layer, Linear, NoBias, Parameters, Plan, Relu, Scratch, Sequence,
    Shape, Vit, Width, Zero, boxed, image, parameters::Numbers, quantize, quantize_to,
};

/// Integers and their scale, as the documentation has it: the greatest magnitude is 127, of two integers the even one is the nearest.
fn quantized(x: &[f32]) -> (Vec<i32>, f32) {
    let greatest = x.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    let inverse = if greatest > 0.0 { 127.0 / greatest } else { 0.0 };
    (x.iter().map(|x| (x * inverse).round_ties_even() as i32).collect(), greatest * (1.0 / 127.0))
}

/// Widths of every remainder, above and below the width of a vector; every number of rows that is left over.
macro_rules! for_each_shape {
    ($check:ident) => {
        $check::<1, 1>();
        $check::<2, 3>();
        $check::<3, 2>();
        $check::<5, 7>();
        $check::<13, 11>();
        $check::<16, 64>();
        $check::<31, 33>();
        $check::<64, 16>();
        $check::<67, 61>();
        $check::<127, 17>();
        $check::<128, 4>();
        $check::<1367, 5>(); // 3 x 1367 is farther than an instruction of a microcontroller reaches
    };
}

#[test]
fn products_are_exact_sums_of_integers() {
    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut random = Random(7);
        let mut linear = boxed::<Linear<IN, OUT>>();
        random.fill(&mut *linear);
        let integers: Boxed<Linear<IN, OUT, Int8>> = quantize(&*linear);
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
                    let (w, of_row) = quantized(row);
                    let sum: i32 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
                    let expected = sum as f32 * (of_token * of_row) + linear.bias[o];
                    assert_eq!(y[o].to_bits(), expected.to_bits(), "{IN} x {OUT}, {len} tokens, output {o}");
                }
            }
        }
    }
    for_each_shape!(check);
}

#[test]
fn a_weight_is_off_by_half_a_scale_at_most() {
    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut linear = boxed::<Linear<IN, OUT, f32, NoBias>>();
        Random(3).fill(&mut *linear);
        let integers: Boxed<Linear<IN, OUT, Int8, NoBias>> = quantize(&*linear);
        integers.for_each_tensor(|name, tensor| {
            assert_eq!((name.to_string(), tensor.shape()), ("weight".into(), Shape::Matrix([OUT, IN])));
            let Numbers::Int8 { scales, integers } = tensor.numbers() else { panic!("integers expected") };
            for ((o, scale), row) in scales.iter().enumerate().zip(integers.chunks(IN)) {
                assert_eq!(row.iter().map(|q| q.unsigned_abs()).max(), Some(127));
                for (i, q) in row.iter().enumerate() {
                    let (weight, found) = (linear.weight.get(i, o).unwrap(), tensor.get(o, i).unwrap());
                    assert_eq!(found, scale * f32::from(*q));
                    assert!((found - weight).abs() <= 0.5001 * scale, "{found} for {weight}");
                }
            }
        });
        assert_eq!(integers.weight.get(0, OUT), None);
        assert_eq!(integers.weight.get(IN, 0), None);

        // What is quantised already stays, but for the last bit of a scale.
        let mut again = boxed::<Linear<IN, OUT, Int8, NoBias>>();
        quantize_to(&*integers, &mut *again);
        let all = |model: &Linear<IN, OUT, Int8, NoBias>| {
            let mut all = vec![];
            model.for_each_tensor(|_, tensor| match tensor.numbers() {
                Numbers::Int8 { integers, .. } => all.extend_from_slice(integers),
                _ => panic!("integers expected"),
            });
            all
        };
        assert!(all(&again) == all(&integers));
    }
    for_each_shape!(check);
}

#[test]
fn extreme_numbers() {
    let mut linear = Linear::<3, 2, Int8>::ZERO;
    assert_eq!(linear.apply(&[1.0, -2.0, 3.0]), [0.0, 0.0]);

    let mut weights = Linear::<3, 2>::ZERO;
    weights.weight.copy_from_out_in(&[[f32::MAX, -f32::MAX, 0.0], [1e-40, 0.0, 1e-38]]);
    quantize_to(&weights, &mut linear);
    assert!((linear.weight.get(0, 0).unwrap() / f32::MAX - 1.0).abs() < 1e-6);
    assert!(linear.weight.get(2, 1).unwrap().abs() < 1e-36); // so little is nothing
    assert_eq!(linear.apply(&[0.0; 3]), [0.0; 2]);

    // What is not a number is not lost.
    weights.weight.copy_from_out_in(&[[1.0, 1.0, 1.0], [1.0, f32::NAN, 1.0]]);
    quantize_to(&weights, &mut linear);
    let [one, other] = linear.apply(&[1.0; 3]);
    assert!((one - 3.0).abs() < 1e-5 && other.is_nan());
    assert!(linear.apply(&[1.0, f32::NAN, 1.0]).iter().all(|y| y.is_nan()));
    assert!(linear.apply(&[1.0, f32::INFINITY, 1.0]).iter().all(|y| !y.is_finite()));
}

/// Numbers can be set one by one, with the scale that the row has.
#[test]
fn single_weights() {
    let mut linear = Linear::<2, 1, Int8, NoBias>::ZERO;
    linear.for_each_tensor_mut(|_, mut tensor| {
        tensor.set(0, 0, 1.0);
        assert_eq!(tensor.get(0, 0), Some(0.0)); // nothing else has the scale 0
        tensor.set_row_major([1.27, 0.0].into_iter()).unwrap();
        tensor.set(0, 1, -0.5);
        tensor.set(0, 2, 9.0);
        tensor.set(1, 0, 9.0);
        assert!(tensor.stored_mut().is_empty() && tensor.stored().is_empty());
        assert!(tensor.set_row_major([1.0].into_iter()).is_err());
    });
    assert!((linear.weight.get(1, 0).unwrap() + 0.5).abs() < 1e-6);
    linear.for_each_tensor_mut(|_, mut tensor| tensor.set(0, 1, 100.0));
    assert!((linear.weight.get(1, 0).unwrap() - 1.27).abs() < 1e-6); // no more than the scale allows
}

fn bytes<M: Parameters>(model: &M) -> Vec<u8> {
    let mut bytes = vec![];
    image::encode(model, |part| bytes.extend_from_slice(part));
    bytes
}

type Odd<T = f32> = FeedForward<5, 7, Relu, T>;

#[test]
fn images() {
    let mut model = Odd::<f32>::ZERO;
    Random(5).fill(&mut model);
    let integers: Boxed<Odd<Int8>> = quantize(&model);
    // Scales, integers up to a multiple of four, biases.
    assert_eq!(size_of::<Odd<Int8>>(), 4 * 7 + 36 + 4 * 7 + 4 * 5 + 36 + 4 * 5);
    assert_eq!(Odd::<Int8>::COUNT, Odd::<f32>::COUNT);
    assert_ne!(Odd::<Int8>::FINGERPRINT, Odd::<f32>::FINGERPRINT);
    assert_eq!(Odd::<Int8>::STRUCTURE, Odd::<f32>::STRUCTURE);
    assert_ne!(FeedForward::<5, 8, Relu>::STRUCTURE, Odd::<f32>::STRUCTURE);

    let image = bytes(&*integers);
    let path = std::env::temp_dir().join(format!("constformer-int8-{}.cfm", std::process::id()));
    image::write(&path, &*integers).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), image);
    let read = image::read::<Odd<Int8>>(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bytes(&*read), image);

    let mut room = vec![0u32; image.len() / 4 + 1];
    let room = constformer::zerocopy::IntoBytes::as_mut_bytes(&mut room[..]);
    room[..image.len()].copy_from_slice(&image);
    let in_place = image::from_bytes::<Odd<Int8>>(&room[..image.len()]).unwrap();
    assert_eq!(bytes(in_place), image);
    assert!(matches!(image::from_bytes::<Odd<f32>>(&room[..image.len()]), Err(image::ImageError::Structure { .. })));
}

/// A model in integers is the model, but for their rounding.
#[test]
fn a_stack_is_near_that_in_f32() {
    type Model<T = f32> = Encoder<Vit, 3, 32, 64, 4, T>;
    let mut model = boxed::<Model>();
    let mut random = Random(11);
    random.fill(&mut *model);
    let integers: Boxed<Model<Int8>> = quantize(&*model);
    const { assert!(Plan::<Model<Int8>, 9>::FLASH * 3 < Plan::<Model, 9>::FLASH) };

    let tokens = random.tokens::<32>(9);
    let [mut x, mut y] = [boxed::<Sequence<32, 9>>(), boxed::<Sequence<32, 9>>()];
    x.assign(&tokens).unwrap();
    y.assign(&tokens).unwrap();
    let mut scratch = boxed::<Scratch<32, 64, 9>>();
    model.forward(&mut x, &mut scratch);
    integers.forward(&mut y, &mut scratch);
    let error = common::max_error(y.tokens().as_flattened(), x.tokens().as_flattened().iter().map(|x| f64::from(*x)));
    println!("within {error:.1e} of the model in f32");
    assert!(error < 0.1 && error > 1e-4);
}
