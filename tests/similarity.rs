//! Lengths and angles of vectors, against `F.normalize` and `F.cosine_similarity` of PyTorch in `f64`.

use constformer::{cosine, normalize};
use proptest::prelude::*;

fn normalized<const N: usize>(mut x: [f32; N]) -> [f32; N] {
    normalize(&mut x);
    x
}

#[test]
fn as_pytorch() {
    assert_eq!(normalized([3.0, 4.0]), [0.6, 0.8]);
    assert_eq!(
        normalized([1.0, -2.0, 3.0, -4.0, 5.0]),
        [0.134_839_97, -0.269_679_94, 0.404_519_92, -0.539_359_87, 0.674_199_9]
    );
    // Shorter than ε = 1e-12, and zero.
    assert_eq!(normalized([1e-13, 0.0]), [0.1, 0.0]);
    assert_eq!(normalized([0.0, -0.0]), [0.0, 0.0]);
    // Squares that f32 has not.
    assert_eq!(normalized([1e20, 1e20]), [std::f32::consts::FRAC_1_SQRT_2; 2]);
    assert_eq!(normalized([3e-12, 4e-12]), [0.6, 0.8]);

    let near = |found: f32, expected: f64| assert!((f64::from(found) - expected).abs() < 1e-7, "{found}");
    near(cosine(&[1.0, 2.0, 3.0], &[4.0, -5.0, 6.0]), 0.365_486_942_323_903_55);
    near(cosine(&[0.3, -0.7, 0.2, 0.9, -1.1], &[1.3, 0.4, -0.2, 0.8, 0.6]), 0.047_064_393_609_744_85);
    near(cosine(&[1e-9, 0.0], &[1e-9, 0.0]), 0.01); // shorter than ε = 1e-8
    near(cosine(&[1e-7, 0.0], &[1e-6, 0.0]), 1.0);
    assert_eq!(cosine(&[1.0, 0.0], &[0.0, 0.0]), 0.0);
}

#[test]
fn what_is_not_finite_and_what_is_empty() {
    assert!(normalized([f32::NAN, 1.0]).iter().all(|x| x.is_nan()));
    assert!(cosine(&[f32::NAN, 1.0], &[1.0, 1.0]).is_nan());
    assert_eq!(
        normalized([f32::MAX, 0.0, -f32::MAX]).map(f32::abs),
        [std::f32::consts::FRAC_1_SQRT_2, 0.0, std::f32::consts::FRAC_1_SQRT_2]
    );
    assert_eq!((normalized([]), cosine(&[], &[])), ([], 0.0));
}

proptest! {
    #[test]
    fn laws(
        a in prop::array::uniform7(-1e3..1e3f32),
        b in prop::array::uniform7(-1e-3..1e-3f32),
        scale in 1e-3..1e3f32,
    ) {
        let c = cosine(&a, &b);
        prop_assert!((-1.000_001..=1.000_001).contains(&c));
        prop_assert_eq!(c, cosine(&b, &a));
        prop_assert!((cosine(&a, &a) - 1.0).abs() < 1e-6);
        prop_assert!((cosine(&a.map(|x| x * scale), &b) - c).abs() < 1e-5);
        let (a, b) = (normalized(a), normalized(b));
        prop_assert!((a.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
        prop_assert!((a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>() - c).abs() < 1e-6);
    }
}
