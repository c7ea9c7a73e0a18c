//! Images: valid ones with damage and a checksum made good, and any bytes at all, at any address.

#![no_main]

use arbitrary::Arbitrary;
use constformer::{image::ImageError, zerocopy::IntoBytes, *};
use libfuzzer_sys::fuzz_target;

type Map = Linear<2, 3>;
type Digits = Classifier<PatchEmbedding<4, 6, 5>, Encoder<Vit, 1, 6, 11, 2>, 6, 3>;
type Text = LanguageModel<TokenEmbedding<7, 6>, Decoder<Llama, 1, 6, 5, 3, f32, 1, 2>, 6, 7>;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// The model that is written and the one that is read.
    written: u8,
    read: u8,
    /// From a multiple of 16 on.
    shift: u8,
    /// What is written over a byte, and where.
    damage: Vec<(u16, u8)>,
    /// The numbers, as bits.
    weights: Vec<u32>,
    length: Option<u16>,
    checksum: bool,
    /// Instead of all that.
    raw: Option<&'a [u8]>,
}

fn written<M: Parameters>(weights: &[u32]) -> Vec<u8> {
    let mut model = boxed::<M>();
    let mut weights = weights.iter().copied();
    model.for_each_tensor_mut(|_, mut tensor| {
        tensor.stored_mut().iter_mut().for_each(|x| *x = weights.next().map_or(0.5, f32::from_bits));
    });
    let mut image = vec![];
    image::encode(&*model, |part| image.extend_from_slice(part));
    image
}

/// Reads an image; what is read is its last bytes. Whatever numbers it has, the model can be run.
fn read<M: Parameters>(image: &[u8], forward: impl FnOnce(&M)) -> Result<(), ImageError> {
    let result = fuzz::heapless(|| image::from_bytes::<M>(image));
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
    let model = result?;
    let info = image::Info::parse(image)?;
    assert!(info.fingerprint == M::FINGERPRINT && image.ends_with(info.weights));
    let numbers: Vec<_> = fuzz::bits(model).into_iter().flat_map(u32::to_le_bytes).collect();
    assert!(numbers == info.weights);
    forward(model);
    Ok(())
}

fn read_one_of(which: u8, image: &[u8]) -> Result<(), ImageError> {
    match which % 3 {
        0 => read::<Map>(image, |map| {
            let _ = map.apply(&[1.0, -2.0]);
        }),
        1 => read::<Digits>(image, |digits| {
            digits.forward(&[[0.5; 4]; 4], &mut boxed::<Memory<Digits, 5>>()).expect("4 patches");
        }),
        _ => read::<Text>(image, |text| {
            text.forward(&[0, 6, 3], &mut boxed::<Memory<Text, 3>>(), &mut [0.0; 7]).expect("3 tokens");
        }),
    }
}

fuzz_target!(|input: Input| {
    let mut image = match input.written % 3 {
        0 => written::<Map>(&input.weights),
        1 => written::<Digits>(&input.weights),
        _ => written::<Text>(&input.weights),
    };
    let undamaged = image.clone();
    for (at, byte) in &input.damage {
        let at = usize::from(*at) % image.len();
        image[at] = *byte;
    }
    let damaged: Vec<_> = (0..image.len()).filter(|at| image[*at] != undamaged[*at]).collect();
    if let Some(length) = input.length {
        image.resize(length.into(), 0);
    }
    if let Some(raw) = input.raw {
        image = raw.to_vec();
    }
    if input.checksum
        && let Some((before, after)) = image.split_at_checked(36)
        && let Some((_, after)) = after.split_first_chunk::<4>()
    {
        let mut crc = crc32fast::Hasher::new();
        crc.update(before);
        crc.update(after);
        image[36..40].copy_from_slice(&crc.finalize().to_le_bytes());
    }
    let shift = usize::from(input.shift % 16);
    let mut room = vec![0u128; image.len() / 16 + 2];
    let place = &mut room.as_mut_bytes()[shift..][..image.len()];
    place.copy_from_slice(&image);

    let result = read_one_of(input.read, place);
    let _ = fuzz::heapless(|| image::Info::parse(place).map(|info| info.description.chars().count()));
    if input.length.is_some() || input.raw.is_some() {
        return;
    }
    match (damaged.first(), damaged.last()) {
        (Some(first), Some(last)) => {
            // A checksum of 32 bits sees all that happens within as many.
            let seen = last - first < 4 && !(33..40).contains(first);
            assert!(!seen || input.checksum || result.is_err(), "damaged from {first} to {last}");
        }
        _ => match result {
            Ok(()) => assert!(input.read % 3 == input.written % 3 && shift % 4 == 0),
            Err(ImageError::Structure { .. }) => assert!(input.read % 3 != input.written % 3),
            Err(ImageError::Alignment { .. }) => assert!(shift % 4 != 0),
            Err(error) => panic!("{error}"),
        },
    }
});
