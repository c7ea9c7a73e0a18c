//! A small language model on a microcontroller: text in, text out, with a cache in RAM and no heap.

use constformer::{
    CachedMemory, Decoder, InputError, LanguageModel, Llama, TokenEmbedding, Zero,
    sampling::{Rng, Sampler, SamplingError},
    tokenizer::{Bytes, Utf8},
};
use core::fmt::{self, Write};
use static_cell::ConstStaticCell;

/// Bytes are its tokens: 2 layers of 24 features, 6 heads on 2 of keys and values.
pub type Speaker =
    LanguageModel<TokenEmbedding<{ Bytes::SIZE }, 24>, Decoder<Llama, 2, 24, 40, 6, f32, 2, 8>, 24, { Bytes::SIZE }>;

/// The longest text, in tokens.
pub const CAPACITY: usize = 96;
/// What it remembers, and works with: four tokens at a time.
pub type SpeakerMemory = CachedMemory<Speaker, CAPACITY, 4>;

/// In RAM, once.
pub static SPEAKER_MEMORY: ConstStaticCell<SpeakerMemory> = ConstStaticCell::new(SpeakerMemory::ZERO);

/// Why there is no more text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Silence {
    /// The prompt cannot be read, or there is no room for more.
    Input(InputError),
    /// No token can be chosen.
    Sampling(SamplingError),
    /// The text cannot be written.
    Output(fmt::Error),
}

/// Writes up to `count` bytes of what comes after `prompt`, whole characters of them.
///
/// # Errors
///
/// [`Silence`]; what has been written stays.
pub fn speak(
    speaker: &Speaker,
    memory: &mut SpeakerMemory,
    prompt: &str,
    count: usize,
    (sampler, rng): (&Sampler, &mut impl Rng),
    out: &mut impl Write,
) -> Result<(), Silence> {
    let (mut ids, mut logits) = ([0; CAPACITY], [0.0; Bytes::SIZE]);
    let len = Bytes.encode(prompt, &mut ids).map_err(|error| Silence::Input(error.into()))?;
    memory.cache.reset();
    speaker.extend(ids.get(..len).unwrap_or_default(), memory, &mut logits).map_err(Silence::Input)?;
    let mut utf8 = Utf8::new();
    for _ in 0..count {
        let id = sampler.sample(&mut logits, &[], rng).map_err(Silence::Sampling)?;
        let byte = Bytes.decode(id).map_err(|error| Silence::Input(error.into()))?;
        for character in utf8.push(byte) {
            out.write_char(character).map_err(Silence::Output)?;
        }
        speaker.extend(&[id], memory, &mut logits).map_err(Silence::Input)?;
    }
    Ok(())
}
