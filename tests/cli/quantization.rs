//! `constformer quantize`

use super::{Folder, bad, good};
use constformer::*;
use safetensors::{Dtype, tensor::TensorView};
use std::{ffi::OsStr, fs};

type Digits<T = f32> = Classifier<PatchEmbedding<4, 32, 17, T>, Encoder<Vit, 2, 32, 96, 4, T>, 32, 10, FirstToken, T>;
const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");

#[test]
fn what_is_written_is_what_the_library_makes() {
    check::<Int8>("Int8", &[]);
    check::<Int8>("Int8", &[&"--format", &"Int8"]);
    check::<Int4>("Int4", &[&"--format", &"Int4"]);
}

fn check<T: Format>(format: &str, option: &[&dyn AsRef<OsStr>]) {
    let folder = Folder::new(&format!("quantize-{format}-{}", option.len()));
    let from: [&dyn AsRef<OsStr>; 4] = [&"quantize", &DIGITS, &"--out", &folder.0];
    let command = [&from[..], &[&"--name", &"small"], option].concat();
    let said = good(&command);
    let expected: Boxed<Digits<T>> = quantize(&*image::read::<Digits>(DIGITS).unwrap());
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
    let encoder = format!("Encoder<Vit, 2, 32, 96, 4, {format}>");
    let ty = format!("Classifier<PatchEmbedding<4, 32, 17, {format}>, {encoder}, 32, 10, FirstToken, {format}>");
    assert!(said.contains(&ty), "{said}");
    let module = fs::read_to_string(folder.0.join("small.rs")).unwrap();
    assert!(module.contains(format) && module.contains("include_model!(Model, \"small.cfm\")"), "{module}");

    let said = good(&[&"verify", &path]);
    assert!(said.contains("weights      22,378, all finite\n"), "{said}");
    let said = good(&[&"inspect", &path]);
    assert!(said.contains(&format!("fingerprint  {}", Digits::<T>::FINGERPRINT)), "{said}");

    // It has no use for what is quantised already, and replaces nothing unasked.
    let again: [&dyn AsRef<OsStr>; 4] = [&"quantize", &path, &"--out", &folder.0];
    let error = bad(1, &[&again[..], option].concat());
    assert!(error.contains(&format!("a model in another format than {format} expected")), "{error}");
    let error = bad(1, &command);
    assert!(error.contains("is there already: replace it with --force"), "{error}");
    good(&[&command[..], &[&"--force"]].concat());
    // A name that says the format.
    good(&[&from[..], option].concat());
    assert!(folder.0.join(format!("digits_{}.cfm", format.to_lowercase())).exists());
}

/// The held-out images of the digits, by fours of pixels as they are cut into patches, and their classes.
#[test]
fn samples_are_answered_by_both() {
    compare::<Int8>("Int8", 2);
    compare::<Int4>("Int4", 3);
}

fn compare<T: Format>(format: &str, others_at_most: usize) {
    let folder = Folder::new(&format!("quantize-samples-{format}"));
    let images = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/test_images.bin")).unwrap();
    let images = images.as_chunks::<65>().0;
    let (mut inputs, mut labels, mut right) = (vec![], vec![], [0, 0]);
    let model = image::read::<Digits>(DIGITS).unwrap();
    let small: Boxed<Digits<T>> = quantize(&*model);
    let (mut memory, mut of_small) = (boxed::<Memory<Digits, 17>>(), boxed::<Memory<Digits<T>, 17>>());
    let mut alike = 0;
    for image in images {
        let pixels: [[f32; 8]; 8] =
            std::array::from_fn(|y| std::array::from_fn(|x| f32::from(image[8 * y + x]) / 16.0));
        let patches = patches::<8, 8, 2, 4, 16>(&pixels);
        inputs.extend(patches.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        labels.extend(i64::from(image[64]).to_le_bytes());
        let answer = |logits: [f32; 10]| (0..10).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        let answers = [model.forward(&patches, &mut memory), small.forward(&patches, &mut of_small)]
            .map(|logits| answer(logits.unwrap()));
        for (right, answer) in right.iter_mut().zip(answers) {
            *right += usize::from(answer == usize::from(image[64]));
        }
        alike += usize::from(answers[0] == answers[1]);
    }
    let n = images.len();
    let write = |name: &str, inputs: &[u8], shape: Vec<usize>| {
        let tensors = [
            ("x", TensorView::new(Dtype::F32, shape, inputs).unwrap()),
            ("y", TensorView::new(Dtype::I64, vec![n], &labels).unwrap()),
        ];
        folder.write(name, safetensors::serialize(tensors, None).unwrap())
    };
    let samples = write("samples.safetensors", &inputs, vec![n, 16, 4]);
    let said = good(&[&"quantize", &DIGITS, &"--out", &folder.0, &"--samples", &samples, &"--format", &format]);
    let module = fs::read_to_string(folder.0.join(format!("digits_{}.rs", format.to_lowercase()))).unwrap();
    assert!(module.contains("constformer::Memory<Model, 17>>(); // 17 tokens"), "{module}");
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap().to_string();
    assert!(line("same answer").contains(&format!(" {alike} of {n}, ")), "{said}{alike}");
    assert!(line("right").contains(&format!(" {} of {n}, ", right[0])), "{said}{right:?}");
    assert!(line("right").contains(&format!("before, {} of {n}, ", right[1])), "{said}{right:?}");
    assert!(alike + others_at_most >= n && right[1] + 2 >= right[0], "{said}");

    // Nothing is written where samples do not fit.
    let error = |path: &std::path::Path| {
        bad(1, &[&"quantize", &DIGITS, &"--out", &folder.0, &"--name", &"other", &"--samples", &path])
    };
    let mut others = labels.clone();
    others[8..16].copy_from_slice(&10i64.to_le_bytes());
    let tensors = [("x", vec![n, 16, 4], Dtype::F32, &inputs), ("y", vec![n], Dtype::I64, &others)];
    let tensors = tensors.map(|(name, shape, dtype, data)| (name, TensorView::new(dtype, shape, data).unwrap()));
    let impossible = folder.write("impossible.safetensors", safetensors::serialize(tensors, None).unwrap());
    assert!(error(&impossible).contains("y: classes from 0 to 9 expected, found another at place 1"));
    let none = write("none.safetensors", &[], vec![0, 16, 4]);
    assert!(error(&none).contains("expected, found [0, 16, 4]"));
    let wide = write("wide.safetensors", &inputs, vec![n, 8, 8]);
    assert!(error(&wide).contains(&format!("x: [samples, up to 16, 4] expected, found [{n}, 8, 8]")));
    inputs[3] = 0x7f;
    inputs[2] = 0xc0;
    let nan = write("nan.safetensors", &inputs, vec![n, 16, 4]);
    assert!(error(&nan).contains("x: a finite number expected, found NaN at place 0"));
    assert!(error(&folder.write("cut.safetensors", [1, 2, 3])).contains("cut.safetensors"));
    assert!(!super::names(&folder.0).iter().any(|name| name.starts_with("other")));
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
    assert!(["Int3", "Int8", "Int4"].iter().all(|format| error.contains(format)), "{error}");
    assert_eq!(super::names(&folder.0), ["damaged.cfm", "short.cfm"]);
}
