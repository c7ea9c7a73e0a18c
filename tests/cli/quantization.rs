//! `constformer quantize`

use super::{Folder, bad, good};
use constformer::*;
use std::fs;

type Digits<T = f32> = Classifier<PatchEmbedding<4, 32, 17, T>, Encoder<Vit, 2, 32, 96, 4, T>, 32, 10, FirstToken, T>;
const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");

#[test]
fn what_is_written_is_what_the_library_makes() {
    let folder = Folder::new("quantize");
    let said = good(&[&"quantize", &DIGITS, &"--out", &folder.0, &"--name", &"small"]);
    let expected: Boxed<Digits<Int8>> = quantize(&*image::read::<Digits>(DIGITS).unwrap());
    let path = folder.0.join("small.cfm");
    let mut bytes = vec![];
    image::encode(&*expected, |part| bytes.extend_from_slice(part));
    let found = fs::read(&path).unwrap();
    let [found, expected] = [&found, &bytes].map(|bytes| image::Info::parse(bytes).unwrap());
    assert!(found.fingerprint == expected.fingerprint && found.weights == expected.weights);

    // 14 matrices: a projection, two layers of six, a head.
    assert_eq!(said.lines().filter(|line| line.contains(".weight ")).count(), 14, "{said}");
    assert!(said.contains("encoder.blocks.1.attention.query.weight"), "{said}");
    assert!(said.contains("bytes of weights instead of 89,512\n"), "{said}");
    let ty = "Classifier<PatchEmbedding<4, 32, 17, Int8>, Encoder<Vit, 2, 32, 96, 4, Int8>, 32, 10, FirstToken, Int8>";
    assert!(said.contains(ty), "{said}");
    let module = fs::read_to_string(folder.0.join("small.rs")).unwrap();
    assert!(module.contains("Int8") && module.contains("include_model!(Model, \"small.cfm\")"), "{module}");

    let said = good(&[&"verify", &path]);
    assert!(said.contains("weights      22,378, all finite\n"), "{said}");
    let said = good(&[&"inspect", &path]);
    assert!(said.contains(&format!("fingerprint  {}", Digits::<Int8>::FINGERPRINT)), "{said}");

    // It has no use for what is quantised already, and replaces nothing unasked.
    let error = bad(1, &[&"quantize", &path, &"--out", &folder.0]);
    assert!(error.contains("a model in another format than Int8 expected"), "{error}");
    let error = bad(1, &[&"quantize", &DIGITS, &"--out", &folder.0, &"--name", &"small"]);
    assert!(error.contains("is there already: replace it with --force"), "{error}");
    good(&[&"quantize", &DIGITS, &"--out", &folder.0, &"--name", &"small", &"--force"]);
}

#[test]
fn what_cannot_be_quantised() {
    let folder = Folder::new("quantize-bad");
    let mut image = fs::read(DIGITS).unwrap();
    let last = image.len() - 1;
    image[last] ^= 1;
    let damaged = folder.write("damaged.cfm", &image);
    let error = bad(1, &[&"quantize", &damaged, &"--out", &folder.0]);
    assert!(error.contains("checksum"), "{error}");
    let short = folder.write("short.cfm", &image[..100]);
    bad(1, &[&"quantize", &short, &"--out", &folder.0]);
    let error = bad(2, &[&"quantize", &DIGITS, &"--out", &folder.0, &"--format", &"Int3"]);
    assert!(error.contains("Int3") && error.contains("Int8"), "{error}");
    assert_eq!(super::names(&folder.0), ["damaged.cfm", "short.cfm"]);
}
