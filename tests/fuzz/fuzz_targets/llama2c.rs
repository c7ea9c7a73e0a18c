//! llama2.c's checkpoints: headers small and large, files as long as they say and others.

#![no_main]

use arbitrary::Arbitrary;
use constformer::{load::*, *};
use libfuzzer_sys::fuzz_target;

type Of<const LAYERS: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize, H = Tied> =
    LanguageModel<TokenEmbedding<7, 6>, Decoder<Llama, LAYERS, 6, 5, HEADS, f32, KV_HEADS, D_KV>, 6, 7, H>;
type Head = Linear<6, 7, f32, NoBias>;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    model: u8,
    /// What is other than in the header of the model.
    header: Vec<(u8, i32)>,
    /// The numbers; then as many 1s as the header wants.
    numbers: &'a [u8],
    length: Option<u16>,
    raw: Option<&'a [u8]>,
}

/// Loads; the numbers of the model are then those of the file but for the tables of rotary positions, and its head may be the
/// file's embedding.
fn load<M: Parameters + Described>(file: &[u8]) {
    let Ok(model) = fuzz::load::<M>(file.len(), |model| llama2c(file, model)) else { return };
    let header = Llama2cHeader::parse(file).expect("what was read has a header");
    let numbers: Vec<_> = file.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).skip(7).collect();
    let matrix = header.vocabulary * header.d_model;
    let end = numbers.len() - if header.tied { 0 } else { matrix };
    let tables = 2 * header.positions * (header.d_model / header.heads / 2);
    let mut expected = numbers[..end - tables].to_vec();
    if M::HYPERPARAMETERS.tied != Some(true) {
        expected.extend(if header.tied { &numbers[..matrix] } else { &numbers[end..] });
    }
    let mut found = fuzz::bits(&*model);
    expected.sort_unstable();
    found.sort_unstable();
    assert!(found == expected);
}

/// How long the file should be, if that is not too much.
fn length(file: &[u8]) -> Option<usize> {
    match Llama2cHeader::parse(file) {
        Err(Llama2cError::Length { expected, .. }) => usize::try_from(expected).ok().filter(|length| *length < 1 << 16),
        _ => None,
    }
}

fuzz_target!(|input: Input| {
    let mut header = match input.model % 4 {
        0 => [6, 5, 1, 3, 3, 7, 4],
        1 => [6, 5, 1, 3, 1, 7, 4],
        2 => [6, 5, 2, 3, 3, -7, 4],
        _ => [6, 5, 2, 1, 1, 7, 4],
    };
    for (i, number) in &input.header {
        header[usize::from(*i) % 7] = *number;
    }
    let mut file: Vec<_> = header.into_iter().flat_map(i32::to_le_bytes).collect();
    if let Some(length) = length(&file) {
        file.extend(input.numbers.iter().copied().chain([0, 0, 128, 63].into_iter().cycle()).take(length - 28));
    }
    if let Some(length) = input.length {
        file.resize(length.into(), 0);
    }
    let file = input.raw.unwrap_or(&file);
    match input.model / 4 % 4 {
        0 => load::<Of<1, 3, 3, 6>>(file),
        1 => load::<Of<1, 3, 1, 2>>(file),
        2 => load::<Of<2, 3, 3, 6, Head>>(file),
        _ => load::<Of<2, 1, 1, 6>>(file),
    }
    let checkpoint = fuzz::frugal(file.len(), || Checkpoint::from_llama2c(file));
    if let Ok(checkpoint) = checkpoint {
        let numbers: usize = checkpoint.tensors().map(|(_, shape)| shape.iter().product::<usize>()).sum();
        assert!(4 * numbers + 28 <= file.len());
    }
});
