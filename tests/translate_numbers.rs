//! The model of `examples/translate_numbers` against its reference, and its image against the weights it was made of.
//!
//! `UPDATE_IMAGES=1 cargo test --test translate_numbers` writes the image again.

mod common;
#[path = "../examples/translate_numbers/model.rs"]
mod model;
#[path = "../examples/translate_numbers/numerals.rs"]
mod numerals;

use common::golden::Golden;
use constformer::{Boxed, boxed, image, load::*};
use model::{Memory, Translator, translate};
use numerals::{english, german, held_out};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/translate_numbers");

/// The model from the weights that `tests/reference/translate_numbers.py` trained.
fn trained() -> Boxed<Translator> {
    let mut model = boxed::<Translator>();
    let weights = Checkpoint::open(format!("{FOLDER}/translator.safetensors")).unwrap();
    weights.load::<TorchTransformer>(&mut *model).unwrap();
    model
}

#[test]
fn image_holds_the_trained_weights() {
    let path = format!("{FOLDER}/translator.cfm");
    if std::env::var_os("UPDATE_IMAGES").is_some() {
        image::write(&path, &*trained()).unwrap();
    }
    let mut encoded = vec![];
    image::encode(&*trained(), |bytes| encoded.extend_from_slice(bytes));
    let committed = std::fs::read(path).unwrap();
    let [committed, encoded] = [&committed, &encoded].map(|bytes| image::Info::parse(bytes).unwrap());
    assert!(committed.fingerprint == encoded.fingerprint && committed.weights == encoded.weights, "see above");
}

#[test]
fn logits_are_pytorch_s() {
    let (model, mut memory) = (trained(), boxed::<Memory>());
    let mut golden = Golden::open("numbers_logits.safetensors");
    let mut worst = 0.0;
    for k in 0..8 {
        let mut ids = |name: &str| -> Vec<u32> {
            golden.take(&format!("{name}.{k}")).numbers.iter().map(|id| *id as u32).collect()
        };
        let (source, target) = (ids("source"), ids("target"));
        model.encode(&source, &mut memory).unwrap();
        let mut found = vec![];
        for id in target {
            let mut logits = [0.0; 28];
            model.extend(&[id], &mut memory, &mut logits).unwrap();
            found.extend(logits);
        }
        worst = common::larger(worst, common::max_error(&found, golden.take(&format!("logits.{k}")).numbers));
    }
    println!("logits within {worst:.1e}");
    assert!(worst < 1e-4);
}

#[test]
fn numbers_that_it_has_not_seen() {
    let (model, mut memory) = (trained(), boxed::<Memory>());
    let (mut right, mut all) = (0, 0);
    for n in (0..10_000).filter(|n| held_out(*n)) {
        right += u64::from(translate(&model, &english(n), &mut memory).unwrap() == german(n));
        all += 1;
    }
    println!("{right} of {all} right");
    let reference = Golden::open("numbers_logits.safetensors").reference;
    let reference: serde_json::Value = serde_json::from_str(&reference).unwrap();
    assert_eq!((reference["right"].as_u64(), reference["held_out"].as_u64()), (Some(right), Some(all)), "as PyTorch");
    assert!(right * 100 >= 99 * all);
}

#[test]
fn what_it_cannot_read() {
    let (model, mut memory) = (trained(), boxed::<Memory>());
    assert_eq!(translate(&model, "nine hundred", &mut memory).unwrap(), "neunhundert");
    assert!(translate(&model, "9", &mut memory).unwrap_err().to_string().contains('9'));
    translate(&model, "", &mut memory).unwrap_err();
    translate(&model, &"z".repeat(65), &mut memory).unwrap_err();
    assert!(translate(&model, &"z".repeat(64), &mut memory).is_ok(), "nonsense, but it comes to an end");
}
