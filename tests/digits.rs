//! The model of `examples/digits` against its reference, and its image against the weights it was made of.
//!
//! `UPDATE_IMAGES=1 cargo test --test digits` writes the image again.

mod common;
#[path = "../examples/digits/model.rs"]
mod model;

use common::golden::Golden;
use constformer::{Boxed, Memory, Working, boxed, image, patches};
use model::{Digits, TOKENS};

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");

/// The model from the weights that `examples/train_digits` found.
fn trained() -> Boxed<Digits> {
    let mut digits = boxed::<Digits>();
    Golden::read("examples/digits/digits.safetensors").load(&mut *digits).unwrap();
    digits
}

#[test]
fn image_holds_the_trained_weights() {
    let mut encoded = vec![];
    image::encode(&*trained(), |bytes| encoded.extend_from_slice(bytes));
    if std::env::var_os("UPDATE_IMAGES").is_some() {
        image::write(IMAGE, &*trained()).unwrap();
    }
    let committed = std::fs::read(IMAGE).unwrap();
    let [committed, encoded] = [&committed, &encoded].map(|bytes| image::Info::parse(bytes).unwrap());
    assert!(committed.fingerprint == encoded.fingerprint && committed.weights == encoded.weights, "see above");
    assert!(committed.weights.len() < 100_000);
}

#[test]
fn every_prediction_is_the_reference_s() {
    let digits = image::read::<Digits>(IMAGE).unwrap();
    let mut reference = Golden::open("digits_logits.safetensors");
    let (logits, predictions) = (reference.take("logits").rows::<10>(), reference.take("predictions").numbers);
    let images = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/test_images.bin")).unwrap();
    let (images, rest) = images.as_chunks::<65>();
    assert!(rest.is_empty() && images.len() >= 360 && images.len() == logits.len());

    let mut memory = boxed::<Memory<Digits, TOKENS>>();
    let mut small = boxed::<Memory<Digits, TOKENS, 4>>();
    let (mut right, mut error) = (0, 0f32);
    for ((bytes, expected), prediction) in images.iter().zip(&logits).zip(predictions) {
        let image = std::array::from_fn(|y| std::array::from_fn(|x| f32::from(bytes[8 * y + x]) / 16.0));
        let patches = patches::<8, 8, 2, 4, 16>(&image);
        let found = digits.forward(&patches, &mut memory).unwrap();
        assert_eq!(found, digits.forward(&patches, &mut small).unwrap(), "four tokens at a time, the same bits");
        error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(error, f32::max);
        let best = (0..10).max_by(|a, b| found[*a].total_cmp(&found[*b])).unwrap();
        assert_eq!(best as f64, prediction);
        right += usize::from(best == usize::from(bytes[64]));
    }
    println!("{right} of {} right, logits within {error:.1e}", images.len());
    assert!(error < 2e-5 && right * 100 >= 97 * images.len());
    let Working { stream, .. } = &*memory;
    assert_eq!(stream.len(), TOKENS);
}
