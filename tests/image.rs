//! Images: what is written is read, and nothing else is.

use constformer::{
    Boxed, Classifier, Encoder, Linear, Mean, Parameters, TextEmbedding, Vit, Zero, boxed,
    image::{self, ImageError, ReadError},
    zerocopy::IntoBytes,
};

type Small = Classifier<TextEmbedding<7, 5, 3>, Encoder<Vit, 1, 5, 3, 1>, 5, 2, Mean>;

fn small() -> Boxed<Small> {
    let mut model = boxed::<Small>();
    let mut n = 0.0;
    model.for_each_tensor_mut(|_, mut tensor| {
        for number in tensor.stored_mut() {
            n += 1.0;
            *number = n / 7.0;
        }
    });
    model
}

fn encoded<M: Parameters>(model: &M) -> Vec<u8> {
    let mut bytes = vec![];
    image::encode(model, |part| bytes.extend_from_slice(part));
    bytes
}

/// Hands `bytes` to `f` at an address that is a multiple of 16 and `shift` more.
fn at<R>(bytes: &[u8], shift: usize, f: impl FnOnce(&[u8]) -> R) -> R {
    let mut room = vec![0u128; bytes.len() / 16 + 2];
    let room = &mut room.as_mut_bytes()[shift..][..bytes.len()];
    room.copy_from_slice(bytes);
    f(room)
}

fn numbers<M: Parameters>(model: &M) -> Vec<u32> {
    let mut all = vec![];
    model.for_each_tensor(|_, tensor| all.extend(tensor.stored().iter().map(|x| x.to_bits())));
    all
}

fn file(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("constformer-{}-{name}.cfm", std::process::id()))
}

#[test]
fn round_trip() {
    let model = small();
    at(&encoded(&*model), 0, |bytes| {
        let read = image::from_bytes::<Small>(bytes).unwrap();
        assert_eq!(numbers(read), numbers(&*model));
        assert!(bytes.as_ptr_range().contains(&std::ptr::from_ref(read).cast()), "where it lies");
    });
    let path = file("round-trip");
    image::write(&path, &*model).unwrap();
    image::write(&path, &*model).unwrap(); // replaces
    assert_eq!(std::fs::read(&path).unwrap(), encoded(&*model));
    assert_eq!(numbers(&*image::read::<Small>(&path).unwrap()), numbers(&*model));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_description_is_the_type() {
    let bytes = encoded(&*small());
    let info = image::Info::parse(&bytes).unwrap();
    let expected = "Classifier<TextEmbedding<7, 5, 3>, Encoder<Vit, 1, 5, 3, 1"; // then defaults, as the compiler likes
    assert!(info.description.starts_with(expected), "{}", info.description);
    assert_eq!(info.fingerprint, Small::FINGERPRINT);
    assert_eq!((bytes.len() - info.weights.len()) % 64, 0);
}

/// Two, four and eight bits of damage too, and all values of the bytes of the header.
#[test]
fn every_damaged_byte_is_an_error() {
    let bytes = encoded(&*small());
    for position in 0..bytes.len() {
        let damages = if position < 64 { 1..=255 } else { 0x81..=0x81 };
        for damage in damages.chain([1, 0x80, 0xff]) {
            let mut damaged = bytes.clone();
            damaged[position] ^= damage;
            let result = at(&damaged, 0, |bytes| image::from_bytes::<Small>(bytes).map(|_| ()));
            assert!(result.is_err(), "byte {position} ^ {damage:02x}");
        }
    }
}

#[test]
fn every_truncation_and_extension_is_an_error() {
    let bytes = encoded(&*small());
    for len in 0..bytes.len() {
        let result = at(&bytes[..len], 0, |bytes| image::from_bytes::<Small>(bytes).map(|_| ()));
        let expected = if len < 40 { 40 } else { bytes.len() as u64 };
        let expected = if len < 8 { ImageError::NotAnImage } else { ImageError::Length { expected, found: len } };
        assert_eq!(result, Err(expected));
    }
    let long = [&bytes[..], &[0]].concat();
    let result = at(&long, 0, |bytes| image::from_bytes::<Small>(bytes).map(|_| ()));
    assert_eq!(result, Err(ImageError::Length { expected: bytes.len() as u64, found: long.len() }));
}

/// Lengths that would overflow are lengths that do not fit.
#[test]
fn absurd_lengths_are_errors() {
    for range in [24..32, 32..36, 24..36] {
        let mut bytes = encoded(&*small());
        bytes[range].fill(0xff);
        assert!(matches!(image::from_bytes::<Small>(&bytes), Err(ImageError::Length { .. })));
    }
}

#[test]
fn each_error_by_its_cause() {
    let good = encoded(&*small());
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let error = |bytes: &[u8]| at(bytes, 0, |bytes| image::from_bytes::<Small>(bytes).map(|_| ()).unwrap_err());
    assert_eq!(error(&with(0, b"GGUF")), ImageError::NotAnImage);
    assert_eq!(error(&with(8, &[1, 2])), ImageError::ByteOrder);
    assert_eq!(error(&with(10, &[1, 0])), ImageError::Version { expected: 2, found: 1 });
    assert_eq!(error(&with(12, &[9, 0, 0, 0])), ImageError::Format { expected: 1, found: 9 });
    assert!(matches!(error(&with(good.len() - 1, &[0xff])), ImageError::Checksum { .. }));
    assert_eq!(error(&[]), ImageError::NotAnImage);
    for shift in 1..4 {
        let result = at(&good, shift, |bytes| image::from_bytes::<Small>(bytes).map(|_| ()));
        assert_eq!(result, Err(ImageError::Alignment { expected: 4, found: shift }));
    }
    at(&good, 4, |bytes| assert!(image::from_bytes::<Small>(bytes).is_ok()));
}

/// 2 x 3 and 3 x 2 numbers, heads, placements: the same size is not the same structure.
#[test]
fn another_structure_of_the_same_size_is_an_error() {
    fn refused<Written: Parameters, Read: Parameters>() {
        assert_eq!(size_of::<Written>(), size_of::<Read>());
        let bytes = encoded(&*boxed::<Written>());
        let expected = ImageError::Structure { expected: Read::FINGERPRINT, found: Written::FINGERPRINT };
        assert_eq!(at(&bytes, 0, |bytes| image::from_bytes::<Read>(bytes).map(|_| ())), Err(expected));
    }
    refused::<Linear<2, 11>, Linear<10, 3>>();
    refused::<Encoder<Vit, 1, 6, 5, 2>, Encoder<Vit, 1, 6, 5, 3>>();
    refused::<Encoder<constformer::Bert, 1, 6, 5, 2>, Encoder<constformer::Vaswani, 1, 6, 5, 2>>();
    refused::<Small, Classifier<TextEmbedding<7, 5, 3>, Encoder<Vit, 1, 5, 3, 1>, 5, 2>>();
}

#[test]
fn files_that_are_none_are_errors_that_say_what_they_hold() {
    let missing = image::read::<Small>(file("missing")).unwrap_err();
    assert!(matches!(missing, ReadError::File(_)) && missing.to_string().contains("missing.cfm: "), "{missing}");
    let path = file("other");
    image::write(&path, &Linear::<2, 3>::ZERO).unwrap();
    let error = image::read::<Small>(&path).unwrap_err().to_string();
    assert!(error.contains("it holds `Linear<2, 3"), "{error}");
    std::fs::remove_file(path).unwrap();
}

/// None fails, none is in the way of another, and what is there at last is whole.
#[test]
fn writers_at_once() {
    let (path, model) = (file("at-once"), small());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..30).for_each(|_| image::write(&path, &*model).unwrap()));
        }
    });
    assert_eq!(std::fs::read(&path).unwrap(), encoded(&*model));
    std::fs::remove_file(path).unwrap();
}

/// A link stays one; what is no file is not replaced.
#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_refused() {
    let (target, link) = (file("target"), file("link"));
    std::fs::write(&target, b"old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    image::write(&link, &*small()).unwrap();
    assert!(link.is_symlink() && std::fs::read(&target).unwrap() == encoded(&*small()));
    std::fs::remove_file(link).unwrap();
    std::fs::remove_file(target).unwrap();
    assert_eq!(image::write("/dev/null", &*small()).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let folder = file("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("inside"), b"").unwrap();
    assert!(image::write(&folder, &*small()).is_err(), "a folder cannot be replaced");
    let beside = |name: &std::ffi::OsStr| {
        name.to_string_lossy().contains("-folder.cfm") && name.to_string_lossy().ends_with(".part")
    };
    let left =
        std::fs::read_dir(std::env::temp_dir()).unwrap().filter(|entry| beside(&entry.as_ref().unwrap().file_name()));
    assert_eq!(left.count(), 0, "no part is left behind");
    assert!(folder.join("inside").exists());
    std::fs::remove_dir_all(folder).unwrap();
    assert!(image::write("/", &*small()).is_err());
    assert!(image::write(file("no-such-folder").join("x"), &*small()).is_err());
}
