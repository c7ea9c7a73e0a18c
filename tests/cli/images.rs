//! `constformer verify`

use super::{Folder, bad, constformer, good, names};
use constformer::*;

type Digits = Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;
const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.cfm");

model! {
    /// A type of one's own.
    struct Own {
        head: Linear<3, 2>,
    }
}

model! {
    /// One of integers.
    struct OwnInt8 {
        head: Linear<64, 2, Int8>,
    }
}

/// CRC-32 (ISO-HDLC) bit by bit.
fn crc(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// The image with the checksum that its bytes have.
fn signed(mut image: Vec<u8>) -> Vec<u8> {
    let checksum = crc(image[..36].iter().chain(&image[40..]).copied());
    image[36..40].copy_from_slice(&checksum.to_le_bytes());
    image
}

#[test]
fn a_good_image() {
    let fingerprint = Digits::FINGERPRINT;
    assert_eq!(
        good(&[&"verify", &DIGITS]),
        format!(
            "{DIGITS}: an undamaged image
type         Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>
fingerprint  {fingerprint}
weights      22,378, all finite
"
        )
    );

    // As the library writes it now; some compilers add the arguments that are left out above.
    let folder = Folder::new("good");
    let path = folder.0.join("digits.cfm");
    image::write(&path, &*image::read::<Digits>(DIGITS).unwrap()).unwrap();
    let said = good(&[&"verify", &path]);
    assert!(said.contains("weights      22,378, all finite\n"), "{said}");
}

#[test]
fn an_image_of_a_type_of_ones_own() {
    let folder = Folder::new("own");
    let path = folder.0.join("own.cfm");
    image::write(&path, &Own::ZERO).unwrap();
    let said = good(&[&"verify", &path]);
    assert!(said.contains("type         Own\n") && said.contains("The type is none of this library"), "{said}");
    assert!(said.contains("weights      32 bytes\n"), "{said}");
    let said = good(&[&"inspect", &path]);
    assert!(said.contains("type         Own, which is not one of this library\n"), "{said}");
    // Which of its bytes are floating-point numbers is not known. Four of these would be NaN, 0x7f81_7f81.
    let mut integers = boxed::<OwnInt8>();
    integers.for_each_tensor_mut(|_, mut tensor| {
        let count = tensor.shape().dimensions().iter().product();
        tensor.set_row_major((0..count).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 })).unwrap();
    });
    image::write(&path, &*integers).unwrap();
    good(&[&"verify", &path]);
}

/// Every field of the header, the weights, the length.
#[test]
fn damaged_images() {
    let folder = Folder::new("damaged");
    let image = std::fs::read(DIGITS).unwrap();
    assert!(signed(image.clone()) == image, "the checksum of the test is that of the library");
    let error = |image: &[u8]| {
        let path = folder.write("damaged.cfm", image);
        let error = bad(1, &[&"verify", &path]);
        let start = format!("error: {}: ", path.display());
        assert!(error.starts_with(&start), "{error}");
        error[start.len()..].trim_end().to_string()
    };
    let with = |place: usize, value: u8| {
        let mut image = image.clone();
        assert!(image[place] != value);
        image[place] = value;
        image
    };

    for byte in 0..8 {
        assert_eq!(error(&with(byte, b'x')), "not an image of a model: the first bytes are not those of one");
    }
    for byte in 8..10 {
        assert_eq!(error(&with(byte, 7)), "the image or this processor is big-endian; images are little-endian");
    }
    assert_eq!(error(&with(10, 1)), "an image with a header of version 2 expected, found version 1");
    assert_eq!(error(&with(12, 9)), "an image with weights in format 1 expected, found format 9");
    let len = image.len();
    assert_eq!(error(&with(31, 1)), format!("an image of {} bytes expected, found {len}", (1u64 << 56) + len as u64));
    assert_eq!(error(&with(35, 1)), format!("an image of {} bytes expected, found {len}", (1usize << 24) + len));

    // The fingerprint, the checksum, the description, the padding after it, the weights.
    for place in [16, 23, 36, 39, 40, 60, len - 1, len / 2] {
        let damaged = with(place, image[place] ^ 64);
        assert!(error(&damaged).starts_with("the image is damaged: checksum "));
    }
    // With a checksum that was made anew.
    let found = with(16, image[16] ^ 1);
    let fingerprint = u64::from_le_bytes(found[16..24].try_into().unwrap());
    let said = error(&signed(found));
    let expected = Digits::FINGERPRINT;
    let start = format!(
        "the image is of a model of another type: fingerprint {expected} expected, found {fingerprint:016x}; the image says"
    );
    assert!(said.starts_with(&start), "{said}");

    // Weights fewer than the type has, and a header that agrees.
    let mut short = image[..len - 16].to_vec();
    let weights = u64::from_le_bytes(short[24..32].try_into().unwrap()) - 16;
    short[24..32].copy_from_slice(&weights.to_le_bytes());
    let said = error(&signed(short));
    assert!(said.starts_with(&format!("an image of {len} bytes expected, found {}; ", len - 16)), "{said}");

    for cut in [8, 39, 40, 100, len - 1] {
        let said = error(&image[..cut]);
        assert!(said.contains("bytes expected, found "), "{cut}: {said}");
    }
    for cut in [0, 7] {
        assert_eq!(error(&image[..cut]), "not an image of a model: the first bytes are not those of one");
    }
    assert_eq!(error(&[&image[..], &[0]].concat()), format!("an image of {len} bytes expected, found {}", len + 1));

    // A number that is none, and its place: the last of the head's bias.
    for (bits, name) in [(f32::NAN.to_bits(), "NaN"), (0x7f80_0000, "inf"), (0xff80_0000, "-inf")] {
        let mut image = image.clone();
        image[len - 4..].copy_from_slice(&bits.to_le_bytes());
        assert_eq!(error(&signed(image)), format!("a finite number expected, found {name} at place 9 of head.bias"));
    }
    assert_eq!(names(&folder.0), ["damaged.cfm"]);
}

/// A description that describes nothing that could be.
#[test]
fn descriptions() {
    let folder = Folder::new("descriptions");
    let image = std::fs::read(DIGITS).unwrap();
    for description in ["Mine<3>", "Encoder<Bert, 16777216, 16384, 16777216, 1>", "Linear<3", "\u{fffd}", ""] {
        let mut other = image[..40].to_vec();
        other[32..36].copy_from_slice(&(description.len() as u32).to_le_bytes());
        other.extend(description.as_bytes());
        other.resize(other.len().next_multiple_of(64), 0);
        other.extend(&image[image.len() - 4 * 22_378..]);
        let (code, said, _) = constformer(&[&"verify", &folder.write("other.cfm", signed(other))]);
        assert!(code == 0 && said.contains("The type is none of this library"), "{said}");
    }
}
