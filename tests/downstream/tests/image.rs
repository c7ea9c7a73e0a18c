//! The image that the crate includes is the one of these weights.

mod common;

use constformer::image;
use std::{env, fs};

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/gestures.cfm");

/// `UPDATE_IMAGES=1 cargo test --no-default-features --test image` writes it anew.
#[test]
fn the_image_is_what_encode_writes() {
    let mut expected = vec![];
    image::encode(&common::gestures(), |part| expected.extend_from_slice(part));
    if env::var_os("UPDATE_IMAGES").is_some() {
        fs::write(IMAGE, &expected).unwrap();
    }
    assert!(fs::read(IMAGE).unwrap() == expected);
}
