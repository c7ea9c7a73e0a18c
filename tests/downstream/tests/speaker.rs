//! A language model as firmware has it.

use constformer::{
    Empty, InputError, Parameters, TooLong, Zero,
    sampling::{Rng, Sampler, rand_core},
};
use downstream::{CAPACITY, SPEAKER_MEMORY, Silence, Speaker, speak};

/// Firmware has a generator of its chip's.
struct Counter(u64);

impl rand_core::TryRng for Counter {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.next_u64() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        bytes.fill_with(|| (self.next_u64() >> 56) as u8);
        Ok(())
    }
}

#[test]
fn it_speaks() {
    let mut speaker = Box::new(Speaker::ZERO);
    let mut x = 0.3f32;
    speaker.for_each_tensor_mut(|_, mut tensor| {
        tensor.stored_mut().fill_with(|| {
            x = (x * 3.9 * (1.0 - x)).clamp(0.01, 0.99);
            x - 0.5
        });
    });
    let memory = SPEAKER_MEMORY.take();
    let mut say = |prompt: &str, count, sampler: &Sampler, seed| {
        let mut text = String::new();
        speak(&speaker, memory, prompt, count, (sampler, &mut Counter(seed)), &mut text).map(|()| text)
    };
    let greedy = Sampler::greedy();
    let text = say("hello", 20, &greedy, 1).unwrap();
    assert_eq!(say("hello", 20, &greedy, 2).unwrap(), text);
    let drawn = Sampler::new().temperature(2.0).unwrap();
    assert_eq!(say("hello", 20, &drawn, 7).unwrap(), say("hello", 20, &drawn, 7).unwrap());
    assert!((0..9).any(|seed| say("hello", 20, &drawn, seed).unwrap() != text));

    assert_eq!(say("", 1, &greedy, 1), Err(Silence::Input(Empty.into())));
    let error = InputError::TooLong(TooLong { capacity: CAPACITY, found: CAPACITY + 1 });
    assert_eq!(say(&"x".repeat(CAPACITY), 1, &greedy, 1), Err(Silence::Input(error)));
    assert_eq!(say(&"x".repeat(CAPACITY + 1), 1, &greedy, 1), Err(Silence::Input(error)));
}
