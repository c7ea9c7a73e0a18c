//! Mapped images: what is read from them is what `image::read` reads, and what it refuses they refuse.
#![expect(unsafe_code, reason = "whoever maps a file promises that nobody changes it")]

use constformer::{
    Boxed, Classifier, Encoder, Linear, Mean, Parameters, TextEmbedding, Vit, Zero, boxed,
    image::{self, ImageError, Mapped, ReadError},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

type Small = Classifier<TextEmbedding<7, 5, 3>, Encoder<Vit, 1, 5, 3, 1>, 5, 2, Mean>;

/// 1 / `divisor`, 2 / `divisor`, ... in order of storage.
fn small(divisor: f32) -> Boxed<Small> {
    let mut model = boxed::<Small>();
    let mut n = 0.0;
    model.for_each_tensor_mut(|_, mut tensor| {
        for number in tensor.stored_mut() {
            n += 1.0;
            *number = n / divisor;
        }
    });
    model
}

fn numbers<M: Parameters>(model: &M) -> Vec<u32> {
    let mut all = vec![];
    model.for_each_tensor(|_, tensor| all.extend(tensor.stored().iter().map(|x| x.to_bits())));
    all
}

/// A file of a test's own, gone when it is dropped.
struct Image(PathBuf);

impl Image {
    fn new(name: &str) -> Self {
        let image = Self(std::env::temp_dir().join(format!("constformer-{}-mapped-{name}.cfm", std::process::id())));
        image::write(&image.0, &*small(7.0)).unwrap();
        image
    }

    /// With bytes that are changed.
    fn changed(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        let image = Self::new(name);
        let mut bytes = fs::read(&image.0).unwrap();
        change(&mut bytes);
        fs::write(&image.0, bytes).unwrap();
        image
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn open<M: Parameters>(path: &Path) -> Result<Mapped<M>, ReadError> {
    // SAFETY: each test has a file of its own, and does not change it but by `image::write`.
    unsafe { Mapped::open(path) }
}

fn open_without_checksum<M: Parameters>(path: &Path) -> Result<Mapped<M>, ReadError> {
    // SAFETY: as in `open`.
    unsafe { Mapped::open_without_checksum(path) }
}

#[test]
fn the_same_weights_as_by_read() {
    let image = Image::new("same");
    let read = image::read::<Small>(&image.0).unwrap();
    let (one, other) = (open::<Small>(&image.0).unwrap(), open_without_checksum::<Small>(&image.0).unwrap());
    assert_eq!(numbers(&*one), numbers(&*read));
    assert_eq!(numbers(&*other), numbers(&*read));
    assert!(!std::ptr::eq(&raw const *one, &raw const *other), "two mappings");
    for model in [&*one, &*other] {
        assert!((&raw const *model).addr().is_multiple_of(64));
    }
    drop(one);
    let other = std::thread::spawn(move || other).join().unwrap();
    assert_eq!(numbers(&*other), numbers(&*read));
}

/// What `read` says of a file is what both ways to map it say, with the same words.
#[test]
fn what_read_refuses_is_refused() {
    fn refused<M: Parameters + std::fmt::Debug>(image: &Image) -> ReadError {
        let expected = image::read::<M>(&image.0).unwrap_err();
        let [one, other] = [open::<M>(&image.0), open_without_checksum::<M>(&image.0)].map(Result::unwrap_err);
        assert_eq!([one.to_string(), other.to_string()], [expected.to_string(), expected.to_string()]);
        assert_eq!(std::mem::discriminant(&one), std::mem::discriminant(&expected));
        one
    }
    fn error(error: ReadError) -> ImageError {
        match error {
            ReadError::Image { error, .. } => error,
            ReadError::File(error) => panic!("{error}"),
        }
    }

    let image = Image::new("model");
    let other = error(refused::<Linear<2, 3>>(&image));
    assert_eq!(other, ImageError::Structure { expected: Linear::<2, 3>::FINGERPRINT, found: Small::FINGERPRINT });

    let bytes = fs::read(&image.0).unwrap().len();
    for len in [bytes - 1, bytes / 2, 41, 40] {
        let truncated = error(refused::<Small>(&Image::changed("truncated", |image| image.truncate(len))));
        assert_eq!(truncated, ImageError::Length { expected: bytes as u64, found: len });
    }
    for len in [39, 8, 1, 0] {
        let truncated = error(refused::<Small>(&Image::changed("empty", |image| image.truncate(len))));
        let expected = if len < 8 { ImageError::NotAnImage } else { ImageError::Length { expected: 40, found: len } };
        assert_eq!(truncated, expected);
    }
    let long = error(refused::<Small>(&Image::changed("long", |image| image.push(0))));
    assert_eq!(long, ImageError::Length { expected: bytes as u64, found: bytes + 1 });

    let changed = |at: usize| error(refused::<Small>(&Image::changed("changed", |image| image[at] ^= 64)));
    assert_eq!(changed(0), ImageError::NotAnImage);
    assert_eq!(changed(8), ImageError::ByteOrder);
    assert!(matches!(changed(10), ImageError::Version { .. }));
    assert!(matches!(changed(12), ImageError::Format { .. }));

    fs::remove_file(&image.0).unwrap();
    let missing = refused::<Small>(&image);
    assert!(matches!(missing, ReadError::File(_)) && missing.to_string().contains("model.cfm: "), "{missing}");
}

/// Damaged weights are seen by those who look.
#[test]
fn the_checksum_is_looked_at_unless_asked_not_to() {
    let image = Image::changed("damaged", |image| *image.last_mut().unwrap() ^= 1);
    let error = open::<Small>(&image.0).unwrap_err();
    assert_eq!(error.to_string(), image::read::<Small>(&image.0).unwrap_err().to_string());
    assert!(matches!(error, ReadError::Image { error: ImageError::Checksum { .. }, .. }), "{error}");

    let model = open_without_checksum::<Small>(&image.0).unwrap();
    let (mut expected, found) = (numbers(&*small(7.0)), numbers(&*model));
    *expected.last_mut().unwrap() ^= 1 << 24;
    assert_eq!(found, expected);
}

#[test]
fn a_folder_is_an_error() {
    assert!(matches!(open::<Small>(&std::env::temp_dir()), Err(ReadError::File(_))));
}

/// The writer replaces the file: who has mapped the old one keeps it.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_stays_as_it_was() {
    let image = Image::new("replaced");
    let old = open::<Small>(&image.0).unwrap();
    image::write(&image.0, &*small(9.0)).unwrap();
    let new = open::<Small>(&image.0).unwrap();
    assert_eq!(numbers(&*old), numbers(&*small(7.0)));
    assert_eq!(numbers(&*new), numbers(&*small(9.0)));
    fs::remove_file(&image.0).unwrap();
    image::write(&image.0, &Linear::<2, 3>::ZERO).unwrap();
    assert_eq!(numbers(&*old), numbers(&*small(7.0)));
    assert_eq!(numbers(&*new), numbers(&*small(9.0)));
}
