//! A language model that goes on from its cache says what it would without one, bit for bit, and errors change nothing.

mod common;

use common::random::Random;
use constformer::*;

type Gpt = LanguageModel<TextEmbedding<29, 21, 17>, Decoder<Gpt2, 2, 21, 35, 3>, 21, 29>;
type Grouped =
    LanguageModel<TokenEmbedding<29, 24>, Decoder<Llama, 2, 24, 35, 6, f32, 2, 8>, 24, 29, Linear<24, 29, f32, NoBias>>;

const TEXT: [u32; 17] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 28, 0];

macro_rules! check {
    ($model:ty, $tile:literal) => {{
        let mut model = boxed::<$model>();
        Random(11).fill(&mut *model);
        let mut memory = boxed::<Memory<$model, 17>>();
        let mut expected = vec![];
        for len in 1..=TEXT.len() {
            let mut logits = [0.0; 29];
            model.forward(&TEXT[..len], &mut memory, &mut logits).unwrap();
            expected.push(logits);
        }
        let mut cached = boxed::<CachedMemory<$model, 17, $tile>>();
        for prompt in 1..=TEXT.len() {
            cached.cache.reset();
            let mut logits = [0.0; 29];
            model.extend(&TEXT[..prompt], &mut cached, &mut logits).unwrap();
            assert_eq!(logits, expected[prompt - 1]);
            for (id, expected) in TEXT[prompt..].iter().zip(&expected[prompt..]) {
                model.extend(&[*id], &mut cached, &mut logits).unwrap();
                assert_eq!(logits, *expected);
            }
            assert_eq!(cached.cache.len(), TEXT.len());
        }
        // Another continuation.
        cached.cache.rewind(5).unwrap();
        let mut logits = [0.0; 29];
        model.extend(&TEXT[5..9], &mut cached, &mut logits).unwrap();
        assert_eq!(logits, expected[8]);
    }};
}

#[test]
fn cached_is_full_bit_for_bit() {
    check!(Gpt, 1);
    check!(Gpt, 4);
    check!(Gpt, 48);
    check!(Grouped, 3);
    check!(Grouped, 17);
}

#[test]
fn errors_change_nothing() {
    let mut model = boxed::<Gpt>();
    Random(11).fill(&mut *model);
    let mut memory = boxed::<CachedMemory<Gpt, 20, 4>>();
    let (mut logits, mut kept) = ([0.0; 29], [0.0; 29]);
    model.extend(&TEXT[..6], &mut memory, &mut logits).unwrap();
    model.extend(&TEXT[6..8], &mut memory, &mut kept).unwrap();
    memory.cache.rewind(6).unwrap();

    let before = logits;
    let mut wrong = |ids: &[u32]| {
        let error = model.extend(ids, &mut memory, &mut logits).unwrap_err();
        assert!(logits == before && memory.cache.len() == 6 && memory.cache.position() == 6);
        error
    };
    assert_eq!(wrong(&[]), Empty.into());
    assert_eq!(wrong(&[1, 1, 1, 1, 1, 29]), UnknownToken { id: 29, vocabulary: 29 }.into());
    assert_eq!(wrong(&[1; 15]), TooLong { capacity: 20, found: 21 }.into());
    assert_eq!(wrong(&[1; 12]), NoPosition { position: 17, positions: 17 }.into());
    model.extend(&TEXT[6..8], &mut memory, &mut logits).unwrap();
    assert_eq!(logits, kept);
}

/// Rotary positions have no end: the window slides, and what is in it is as if it had been there with its positions.
#[test]
fn a_text_longer_than_its_memory() {
    let mut model = boxed::<Grouped>();
    Random(11).fill(&mut *model);
    let mut memory = boxed::<CachedMemory<Grouped, 8, 4>>();
    let mut logits = [0.0; 29];
    for step in 0..50 {
        if memory.cache.len() == 8 {
            memory.cache.let_go(2);
        }
        model.extend(&[TEXT[step % 17]], &mut memory, &mut logits).unwrap();
        assert_eq!(memory.cache.position(), step + 1);
        assert!(logits.iter().all(|x| x.is_finite()));
    }
}

/// A text from any position on is what it is as a part of the whole.
fn check_pieces<E: Incremental<21, Input = u32>>(embedding: &E) {
    let (mut all, mut part) = (Sequence::<21, 17>::new(), Sequence::<21, 5>::new());
    embedding.forward(&TEXT, &mut all).unwrap();
    for first in 0..13 {
        embedding.forward_at(first, &TEXT[first..first + 5], &mut part).unwrap();
        assert_eq!(part.tokens(), &all.tokens()[first..first + 5]);
    }
    for (first, position) in [(13, 17), (17, 21), (usize::MAX, usize::MAX - 1)] {
        let error = embedding.forward_at(first, &TEXT[..5], &mut part);
        assert_eq!(error, Err(NoPosition { position, positions: 17 }.into()));
        assert!(part.is_empty());
    }
    assert_eq!(embedding.forward_at(0, &[], &mut part), Err(Empty.into()));
}

#[test]
fn positions_piece_by_piece() {
    let mut embedding = boxed::<TextEmbedding<29, 21, 17>>();
    Random(3).fill(&mut *embedding);
    let sinusoidal = boxed::<SinusoidalEmbedding<29, 21, 17>>();
    check_pieces(&*embedding);
    check_pieces(&*sinusoidal);
}
