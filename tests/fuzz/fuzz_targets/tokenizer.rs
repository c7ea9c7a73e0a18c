//! Tokenizers: vocabularies of any bytes and of any tokens; texts there and back; characters in pieces.

#![no_main]

use arbitrary::Arbitrary;
use constformer::tokenizer::{Bytes, Characters, EncodeError, Utf8, Vocabulary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    size: u8,
    tokens: Vec<(&'a [u8], f32)>,
    longest: Option<i32>,
    /// What is written over a byte of the vocabulary, and where.
    damage: Vec<(u16, u8)>,
    raw: Option<&'a [u8]>,
    text: &'a str,
    room: u8,
    /// The lengths of pieces.
    pieces: &'a [u8],
    bytes: &'a [u8],
}

/// A `tokenizer.bin`: `<unk>`, `<s>`, `</s>`, the 256 bytes if there is room for them, these tokens, and then some.
fn file(input: &Input, size: usize) -> Vec<u8> {
    let bytes = if size > 259 { 256 } else { 0 };
    let signs = ["<unk>", "<s>", "</s>"].into_iter().map(|text| (text.as_bytes().to_vec(), 0.0));
    let bytes = (0..bytes).map(|byte| (format!("<0x{byte:02X}>").into_bytes(), 0.0));
    let space = std::iter::once((b" ".to_vec(), -1.0));
    let others = input.tokens.iter().map(|(text, score)| (text.to_vec(), *score));
    let more = (0..).map(|i| (format!("{i}").into_bytes(), i as f32));
    let tokens: Vec<_> = signs.chain(bytes).chain(space).chain(others).chain(more).take(size).collect();
    let longest = tokens.iter().map(|(text, _)| text.len() as i32).max().unwrap_or_default();
    let mut file = input.longest.unwrap_or(longest).to_le_bytes().to_vec();
    for (text, score) in tokens {
        file.extend(score.to_le_bytes());
        file.extend((text.len() as u32).to_le_bytes());
        file.extend(text);
    }
    file
}

/// Slowly what `encode` does, with texts put together.
fn naive<const SIZE: usize>(vocabulary: &Vocabulary<SIZE>, text: &str) -> Option<Vec<u32>> {
    let is_byte = |text: &[u8]| {
        text.len() == 6 && text.starts_with(b"<0x") && text[3..5].iter().all(u8::is_ascii_hexdigit) && text[5] == b'>'
    };
    let plain = |id: u32| vocabulary.text(id).filter(|text| id > 2 && !is_byte(text));
    let find = |text: &[u8]| (3..SIZE as u32).find(|id| plain(*id) == Some(text));
    let byte = |byte: u8| {
        let text = vocabulary.text(u32::from(byte) + 3).filter(|text| is_byte(text))?;
        let value = u8::from_str_radix(std::str::from_utf8(&text[3..5]).ok()?, 16).ok()?;
        (value == byte).then_some(u32::from(byte) + 3)
    };
    let mut ids = vec![1];
    if !text.is_empty() {
        ids.push(find(b" ")?);
    }
    for character in text.chars().map(String::from) {
        match find(character.as_bytes()) {
            Some(id) => ids.push(id),
            None => ids.extend(character.bytes().map(byte).collect::<Option<Vec<_>>>()?),
        }
    }
    loop {
        let mut best: Option<(f32, usize, u32)> = None;
        for at in 0..ids.len() - 1 {
            if let (Some(left), Some(right)) = (plain(ids[at]), plain(ids[at + 1]))
                && let Some(id) = find(&[left, right].concat())
                && let Some(score) = vocabulary.score(id)
                && best.is_none_or(|(best, ..)| score > best)
            {
                best = Some((score, at, id));
            }
        }
        let Some((_, at, id)) = best else { return Some(ids) };
        ids.splice(at..at + 2, [id]);
    }
}

fn check_vocabulary<const SIZE: usize>(input: &Input) {
    let mut built = file(input, SIZE);
    for (at, byte) in &input.damage {
        let at = usize::from(*at) % built.len();
        built[at] = *byte;
    }
    let file = input.raw.unwrap_or(&built);
    let vocabulary = match fuzz::heapless(|| Vocabulary::<SIZE>::parse(file)) {
        Ok(vocabulary) => vocabulary,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for id in 0..SIZE as u32 {
        assert!(vocabulary.text(id).is_some_and(|text| !text.is_empty()));
        assert!(vocabulary.score(id).is_some_and(f32::is_finite));
        for previous in [0, 1, id, u32::MAX] {
            assert!(vocabulary.decode(previous, id).is_ok());
        }
    }
    assert!(vocabulary.decode(1, SIZE as u32).is_err() && vocabulary.text(u32::MAX).is_none());

    let end = input.text.char_indices().map(|(at, _)| at).find(|at| *at >= 64).unwrap_or(input.text.len());
    let text = &input.text[..end]; // the time is quadratic, that of the naive one worse
    let mut ids = vec![u32::MAX; text.len() + 2];
    let encoded = fuzz::heapless(|| vocabulary.encode(text, &mut ids));
    let mut less = vec![0; usize::from(input.room)];
    let with_less = vocabulary.encode(text, &mut less);
    match encoded {
        Ok(len) => {
            let ids = &ids[..len];
            assert!(naive(&vocabulary, text).is_some_and(|naive| naive == ids));
            let decoded = ids.windows(2).flat_map(|pair| vocabulary.decode(pair[0], pair[1]).expect("an id"));
            assert!(decoded.copied().eq(text.bytes()));
            match with_less {
                Ok(n) => assert!(less[..n] == *ids),
                Err(error) => assert!(matches!(error, EncodeError::TooLong(_)) && less.len() < text.len() + 2),
            }
        }
        Err(EncodeError::UnknownCharacter(unknown)) => {
            assert!(text[unknown.at..].starts_with(unknown.character) || unknown.character == ' ');
            assert!(naive(&vocabulary, text).is_none());
        }
        Err(error) => panic!("{error}"),
    }
}

fn check_characters<const SIZE: usize>(input: &Input) {
    let distinct = |text: &str| {
        let mut characters: Vec<_> = text.chars().collect();
        characters.sort_unstable();
        characters.dedup();
        characters.len()
    };
    let end = input.text.char_indices().nth(SIZE).map_or(input.text.len(), |(at, _)| at);
    for alphabet in [input.text, &input.text[..end]] {
        let characters = Characters::<SIZE>::new(alphabet);
        let count = alphabet.chars().count();
        assert_eq!(characters.is_ok(), count == SIZE && distinct(alphabet) == SIZE);
        if let Ok(characters) = characters {
            let mut ids = vec![0; input.text.chars().count()];
            match characters.encode(input.text, &mut ids) {
                Ok(len) => {
                    let decoded = ids[..len].iter().map(|id| characters.decode(*id).expect("an id"));
                    assert!(decoded.eq(input.text.chars()));
                }
                Err(EncodeError::UnknownCharacter(unknown)) => {
                    assert!(!alphabet.contains(unknown.character));
                    assert!(input.text[unknown.at..].starts_with(unknown.character));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Bytes that come in pieces are what they are in one.
fn check_utf8(input: &Input) {
    let (mut utf8, mut text, mut rest) = (Utf8::new(), String::new(), input.bytes);
    for length in input.pieces {
        let piece = rest.split_off(..usize::from(*length).min(rest.len())).unwrap_or_default();
        text.extend(utf8.push(piece));
    }
    text.extend(utf8.push(rest));
    text.extend(utf8.finish());
    assert_eq!(text, String::from_utf8_lossy(input.bytes));
}

fn check_bytes(text: &str) {
    let mut ids = vec![0; text.len()];
    assert_eq!(Bytes.encode(text, &mut ids), Ok(text.len()));
    assert!(ids.iter().flat_map(|id| Bytes.decode(*id).expect("a byte")).eq(text.as_bytes()));
}

fuzz_target!(|input: Input| {
    match input.size % 5 {
        0 => check_vocabulary::<3>(&input),
        1 => check_vocabulary::<4>(&input),
        2 => check_vocabulary::<13>(&input),
        3 => check_vocabulary::<64>(&input),
        _ => check_vocabulary::<280>(&input),
    }
    check_characters::<0>(&input);
    check_characters::<2>(&input);
    check_characters::<5>(&input);
    check_utf8(&input);
    check_bytes(input.text);
});
