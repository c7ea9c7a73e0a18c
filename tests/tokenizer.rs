//! Tokenizers: texts there and back, against a naive reference and sentencepiece's ids, and files that are none.

use constformer::{
    TooLong, UnknownToken,
    tokenizer::{AlphabetError, Bytes, Characters, EncodeError, UnknownCharacter, Utf8, Vocabulary, VocabularyError},
};
use proptest::prelude::*;

const BOS: u32 = Vocabulary::<3>::BOS;

/// A `tokenizer.bin` of these tokens.
fn file<T: AsRef<[u8]>>(tokens: &[(T, f32)]) -> Vec<u8> {
    let longest = tokens.iter().map(|(text, _)| text.as_ref().len() as u32).max().unwrap_or(1);
    let mut file = longest.to_le_bytes().to_vec();
    for (text, score) in tokens {
        file.extend(score.to_le_bytes());
        file.extend((text.as_ref().len() as u32).to_le_bytes());
        file.extend(text.as_ref());
    }
    file
}

/// `<unk>`, `<s>`, `</s>`, the bytes, and these.
fn with_bytes(texts: &[(&str, f32)]) -> Vec<(String, f32)> {
    let signs = ["<unk>", "\n<s>\n", "\n</s>\n"].map(String::from);
    let bytes = (0..256).map(|byte| format!("<0x{byte:02X}>"));
    let mut tokens: Vec<_> = signs.into_iter().chain(bytes).map(|text| (text, 0.0)).collect();
    tokens.extend(texts.iter().map(|(text, score)| (text.to_string(), *score)));
    tokens
}

fn encode<const SIZE: usize>(vocabulary: &Vocabulary<SIZE>, text: &str) -> Result<Vec<u32>, EncodeError> {
    let mut ids = vec![u32::MAX; text.len() + 2];
    let len = vocabulary.encode(text, &mut ids)?;
    ids.truncate(len);
    Ok(ids)
}

fn decode<const SIZE: usize>(vocabulary: &Vocabulary<SIZE>, ids: &[u32]) -> Vec<u8> {
    ids.windows(2).flat_map(|pair| vocabulary.decode(pair[0], pair[1]).unwrap()).copied().collect()
}

/// llama2.c's `encode`, with texts put together and every text compared. What `<s>` or `<0x41>` spell is no token of it.
fn naive(tokens: &[(String, f32)], text: &str) -> Option<Vec<u32>> {
    let plain = |id: usize| (id > 2 && !tokens[id].0.starts_with("<0x")).then_some(&tokens[id].0);
    let find = |text: &str| (0..tokens.len()).find(|id| plain(*id).is_some_and(|token| token == text));
    let mut ids = vec![1];
    if !text.is_empty() {
        ids.push(find(" ")?);
    }
    for character in text.chars().map(String::from) {
        match find(&character) {
            Some(id) => ids.push(id),
            None => ids.extend(character.bytes().map(|byte| usize::from(byte) + 3)),
        }
    }
    loop {
        let mut best: Option<(f32, usize, usize)> = None;
        for at in 0..ids.len() - 1 {
            let Some((left, right)) = plain(ids[at]).zip(plain(ids[at + 1])) else { continue };
            if let Some(id) = find(&format!("{left}{right}"))
                && best.is_none_or(|(score, ..)| tokens[id].1 > score)
            {
                best = Some((tokens[id].1, id, at));
            }
        }
        let Some((_, id, at)) = best else { break };
        ids.splice(at..at + 2, [id]);
    }
    Some(ids.into_iter().map(|id| id as u32).collect())
}

#[test]
fn bytes() {
    let text: String = ('\0'..'\u{900}').chain("日本😀".chars()).collect();
    let mut ids = vec![0; text.len()];
    assert_eq!(Bytes.encode(&text, &mut ids), Ok(text.len()));
    let back: Vec<u8> = ids.iter().flat_map(|id| Bytes.decode(*id).unwrap()).copied().collect();
    assert_eq!(back, text.as_bytes());
    assert_eq!(Bytes.encode("", &mut []), Ok(0));
    assert_eq!(Bytes.encode("äöü", &mut [0; 5]), Err(TooLong { capacity: 5, found: 6 }));
    assert_eq!(Bytes.decode(255), Ok(&[255][..]));
    assert_eq!(Bytes.decode(256), Err(UnknownToken { id: 256, vocabulary: 256 }));
}

#[test]
fn characters() {
    const ALPHABET: &str = "\n !ab\u{7F}é\u{7FF}\u{800}日\u{FFFF}\u{10000}😀\u{10FFFF}\0";
    static CHARACTERS: Characters<15> = match Characters::new(ALPHABET) {
        Ok(characters) => characters,
        Err(_) => panic!("not 15 characters"),
    };
    let mut ids = [0; 15];
    assert_eq!(CHARACTERS.encode(ALPHABET, &mut ids), Ok(15));
    assert!(ids.into_iter().eq(0..15));
    assert!(ids.iter().map(|id| CHARACTERS.decode(*id).unwrap()).eq(ALPHABET.chars()));
    assert_eq!(CHARACTERS.decode(15), Err(UnknownToken { id: 15, vocabulary: 15 }));
    assert_eq!(CHARACTERS.encode("abab", &mut ids[..3]), Err(TooLong { capacity: 3, found: 4 }.into()));
    let unknown = UnknownCharacter { character: 'x', at: 3 };
    assert_eq!(CHARACTERS.encode("aéxb", &mut ids), Err(unknown.into()));
    assert_eq!(EncodeError::from(unknown).to_string(), "the character 'x' at byte 3 has no token");

    assert_eq!(Characters::<3>::new("ab"), Err(AlphabetError::Size { expected: 3, found: 2 }));
    assert_eq!(Characters::<3>::new("äbcd"), Err(AlphabetError::Size { expected: 3, found: 4 }));
    assert_eq!(Characters::<3>::new("äbä"), Err(AlphabetError::Twice { character: 'ä' }));
    assert!(Characters::<0>::new("").is_ok());
    let text = |error: AlphabetError| error.to_string();
    assert_eq!(text(Characters::<3>::new("ab").unwrap_err()), "an alphabet of 3 characters expected, found 2");
    assert_eq!(
        text(AlphabetError::Twice { character: 'ä' }),
        "every character of an alphabet expected once, found 'ä' twice"
    );
}

const WORDS: [(&str, f32); 12] = [
    (" ", -9.0),
    ("a", -9.0),
    ("b", -9.0),
    ("<", -9.0),
    ("é", -9.0),
    ("ab", -1.0),
    ("ba", -1.0),
    (" a", -2.0),
    ("aba", -3.0),
    ("abé", -0.5),
    ("ab", 5.0), // again, and so of no use
    ("  ", -4.0),
];

#[test]
fn pairs_are_merged_by_score_and_then_from_the_left() {
    let file = file(&with_bytes(&WORDS));
    let vocabulary = Vocabulary::<271>::parse(&file).unwrap();
    let id = |text: &str| (259..).zip(WORDS).find(|(_, word)| word.0 == text).unwrap().0;
    for (text, expected) in [
        ("", &[][..]),
        (" ", &["  "]),
        ("a", &[" a"]),
        ("ab", &[" ", "ab"]),
        ("aba", &[" ", "aba"]),
        ("bab", &[" ", "ba", "b"]),
        ("abab", &[" ", "ab", "ab"]),
        ("abé", &[" ", "abé"]),
    ] {
        let expected: Vec<u32> = [BOS].into_iter().chain(expected.iter().map(|text| id(text))).collect();
        assert_eq!(encode(&vocabulary, text), Ok(expected), "{text:?}");
    }
    // Bytes of what has no token, and signs that are spelled.
    assert_eq!(encode(&vocabulary, "ñ").unwrap(), [1, id(" "), 3 + 0xC3, 3 + 0xB1]);
    let spelled = encode(&vocabulary, "\n<s>\n<0x41>").unwrap();
    assert!(spelled[0] == BOS && spelled[1..].iter().all(|id| *id > 2 && *id != 3 + 0x41));
    assert_eq!(decode(&vocabulary, &spelled), b"\n<s>\n<0x41>");
}

/// Not even where pairs lead to its name. A token of the same name, but of text, is one.
#[test]
fn a_sign_is_not_spelled() {
    let tokens =
        ["<unk>", "<s>", "</s>", " ", "<", "s", ">", "<s", "<0x41>", "<0", "<0x", "<0x4", "<0x41", "0", "x", "4", "1"];
    let file = file(&tokens.map(|text| (text, 0.0)));
    let vocabulary = Vocabulary::<17>::parse(&file).unwrap();
    assert_eq!(encode(&vocabulary, "<s>"), Ok(vec![1, 3, 7, 6]));
    assert_eq!(encode(&vocabulary, "<0x41>"), Ok(vec![1, 3, 12, 6]));
    let file = self::file(&["<unk>", "<s>", "</s>", " ", "<", "s", ">", "<s", "<s>"].map(|text| (text, 0.0)));
    let vocabulary = Vocabulary::<9>::parse(&file).unwrap();
    assert_eq!(encode(&vocabulary, "<s>"), Ok(vec![1, 3, 8]));
    assert_eq!(decode(&vocabulary, &[1, 3, 8]), b"<s>");
}

#[test]
fn tokens_are_decoded() {
    let file = file(&with_bytes(&WORDS));
    let vocabulary = Vocabulary::<271>::parse(&file).unwrap();
    let [space, a, space_a, spaces] = [259, 260, 266, 270];
    assert_eq!(vocabulary.decode(a, space_a), Ok(&b" a"[..]));
    // After BOS a space is left out, but only one, and none that is written as a byte.
    assert_eq!(vocabulary.decode(BOS, space_a), Ok(&b"a"[..]));
    assert_eq!(vocabulary.decode(BOS, space), Ok(&b""[..]));
    assert_eq!(vocabulary.decode(BOS, spaces), Ok(&b" "[..]));
    assert_eq!(vocabulary.decode(BOS, 3 + 0x20), Ok(&b" "[..]));
    assert!((0..=255).all(|byte: u8| vocabulary.decode(a, 3 + u32::from(byte)) == Ok(&[byte])));
    assert_eq!([1, 2].map(|sign| vocabulary.decode(a, sign)), [Ok(&b""[..]); 2]);
    assert_eq!(vocabulary.decode(a, 0), Ok(&b"<unk>"[..]));
    assert_eq!(vocabulary.decode(a, 271), Err(UnknownToken { id: 271, vocabulary: 271 }));
    assert_eq!(vocabulary.decode(u32::MAX, u32::MAX), Err(UnknownToken { id: u32::MAX, vocabulary: 271 }));
    assert_eq!((vocabulary.text(1), vocabulary.text(271)), (Some(&b"\n<s>\n"[..]), None));
    assert_eq!((vocabulary.score(266), vocabulary.score(271)), (Some(-2.0), None));
}

#[test]
fn texts_without_tokens_are_errors() {
    let file = file(&[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), (" ", 0.0), ("a", 0.0), ("aa", 1.0)]);
    let vocabulary = Vocabulary::<6>::parse(&file).unwrap();
    assert_eq!(encode(&vocabulary, "aaa"), Ok(vec![1, 3, 5, 4]));
    assert_eq!(encode(&vocabulary, "aab"), Err(UnknownCharacter { character: 'b', at: 2 }.into()));
    // Room is needed for what is not merged yet.
    assert_eq!(vocabulary.encode("aaa", &mut [0; 4]), Err(TooLong { capacity: 4, found: 5 }.into()));
    assert_eq!(vocabulary.encode("", &mut []), Err(TooLong { capacity: 0, found: 1 }.into()));
    let (without_space, signs) = (self::file(&[("a", 0.0), ("b", 0.0), ("c", 0.0), ("d", 0.0)]), Ok(vec![1]));
    let vocabulary = Vocabulary::<4>::parse(&without_space).unwrap();
    assert_eq!(encode(&vocabulary, ""), signs);
    assert_eq!(encode(&vocabulary, "d"), Err(UnknownCharacter { character: ' ', at: 0 }.into()));
}

#[test]
fn files_of_another_size_are_errors() {
    let file = file(&with_bytes(&WORDS));
    let error = Vocabulary::<300>::parse(&file).unwrap_err();
    assert_eq!(error, VocabularyError::Size { expected: 300, found: 271 });
    assert_eq!(error.to_string(), "a vocabulary of 300 tokens expected, found 271");
    let error = Vocabulary::<200>::parse(&file).unwrap_err();
    assert_eq!(error, VocabularyError::Size { expected: 200, found: 271 });
}

#[test]
fn files_that_are_none_are_errors() {
    fn refused(file: &[u8], expected: VocabularyError, text: &str) {
        let error = Vocabulary::<3>::parse(file).unwrap_err();
        assert_eq!((error, error.to_string().as_str()), (expected, text));
    }
    let good = file(&[("a", 0.0), ("bc", -1.0), ("d", -2.0)]);
    assert!(Vocabulary::<3>::parse(&good).is_ok());
    let with = |at: usize, bytes: [u8; 4]| {
        let mut file = good.clone();
        file[at..at + 4].copy_from_slice(&bytes);
        file
    };
    for longest in [0, -1, i32::MIN] {
        refused(
            &with(0, longest.to_le_bytes()),
            VocabularyError::MaxLength { found: longest },
            &format!("a longest token of at least 1 byte expected, found {longest}"),
        );
    }
    for length in [0, -1, 3, i32::MAX, i32::MIN] {
        refused(
            &with(17, length.to_le_bytes()),
            VocabularyError::Length { id: 1, expected: 2, found: length },
            &format!("token 1 should have 1 to 2 bytes, found a length of {length}"),
        );
    }
    for score in [f32::NAN, f32::INFINITY, MASKED] {
        refused(
            &with(13, score.to_le_bytes()),
            VocabularyError::Score { id: 1 },
            "token 1 should have a finite score, found NaN or an infinite one",
        );
    }
    // A length that the file says is right, but that it does not have.
    let mut long = with(0, i32::MAX.to_le_bytes());
    long[17..21].copy_from_slice(&i32::MAX.to_le_bytes());
    refused(
        &long,
        VocabularyError::Bytes { expected: 21 + 2_147_483_647, found: good.len() },
        "the vocabulary is cut off: at least 2147483668 bytes expected, found 32",
    );
    let mut more = good.clone();
    more.extend(b"rest");
    refused(
        &more,
        VocabularyError::Bytes { expected: 40, found: 36 },
        "the vocabulary is cut off: at least 40 bytes expected, found 36",
    );
    refused(
        &[],
        VocabularyError::Bytes { expected: 4, found: 0 },
        "the vocabulary is cut off: at least 4 bytes expected, found 0",
    );
}

const MASKED: f32 = f32::NEG_INFINITY;

/// Every beginning of the file is an error, and every damaged byte is an error or another vocabulary that works.
#[test]
fn cut_and_damaged_files() {
    let file = file(&with_bytes(&WORDS));
    for len in 0..file.len() {
        let error = Vocabulary::<271>::parse(&file[..len]).unwrap_err();
        let cut = matches!(error, VocabularyError::Bytes { expected, found } if found == len && expected > found);
        let between_tokens = matches!(error, VocabularyError::Size { expected: 271, found } if found < 271);
        assert!(cut || between_tokens, "{len}: {error}");
    }
    let (mut accepted, mut refused) = (0, 0);
    for at in 0..file.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            let Ok(vocabulary) = Vocabulary::<271>::parse(&damaged) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            if let Ok(ids) = encode(&vocabulary, "aba ñ<s>") {
                assert_eq!(decode(&vocabulary, &ids), "aba ñ<s>".as_bytes());
            }
            assert!((0..271).all(|id| vocabulary.decode(BOS, id).is_ok()));
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 1000 && refused > 1000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Vocabulary::<3>::parse(&bytes);
    }

    /// Lengths that are small, so that some of it is a vocabulary.
    #[test]
    fn almost_vocabularies_are_no_panic(
        tokens in prop::collection::vec((prop::collection::vec(0..4u8, 0..4), any::<u32>()), 3..=3),
        at in any::<prop::sample::Index>(),
        byte: u8,
        text in "[\0\u{1}\u{2}]{0,9}",
    ) {
        let tokens: Vec<_> = tokens.into_iter().map(|(text, score)| (text, f32::from_bits(score))).collect();
        let mut file = file(&tokens);
        let at = at.index(file.len());
        file[at] = byte;
        if let Ok(vocabulary) = Vocabulary::<3>::parse(&file) {
            let _ = encode(&vocabulary, &text);
        }
    }

    #[test]
    fn as_a_naive_reference(
        words in prop::collection::vec(("[ab <é]{1,4}", -3..3i8), 41..=41),
        text in "[ab <éñ\n]{0,24}",
    ) {
        let mut tokens = with_bytes(&[(" ", -9.0), ("a", -9.0), ("b", -9.0)]);
        tokens.extend(words.into_iter().map(|(text, score)| (text, f32::from(score))));
        let file = file(&tokens);
        let vocabulary = Vocabulary::<303>::parse(&file).unwrap();
        let ids = encode(&vocabulary, &text).unwrap();
        prop_assert_eq!(Some(ids.clone()), naive(&tokens, &text));
        prop_assert_eq!(decode(&vocabulary, &ids), text.as_bytes());
    }

    #[test]
    fn any_text_comes_back(text: String) {
        let file = file(&with_bytes(&WORDS));
        let vocabulary = Vocabulary::<271>::parse(&file).unwrap();
        let ids = encode(&vocabulary, &text).unwrap();
        let bytes = decode(&vocabulary, &ids);
        prop_assert_eq!(&bytes, text.as_bytes());
        let mut utf8 = Utf8::new();
        let mut back = String::new();
        for pair in ids.windows(2) {
            back.extend(utf8.push(vocabulary.decode(pair[0], pair[1]).unwrap()));
        }
        back.extend(utf8.finish());
        prop_assert_eq!(back, text);
    }

    /// As `String::from_utf8_lossy`, wherever the bytes are cut.
    #[test]
    fn utf8_in_pieces(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), Just(0xE2), Just(0x82), Just(0xAC), Just(0xF0), Just(0x9F), Just(b'a'), Just(0xED)],
            0..40,
        ),
        size in 1..7usize,
    ) {
        let mut utf8 = Utf8::new();
        let mut text = String::new();
        for piece in bytes.chunks(size) {
            text.extend(utf8.push(piece));
        }
        text.extend(utf8.finish());
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn utf8_begins_anew() {
    let mut utf8 = Utf8::new();
    assert_eq!(utf8.push(b"\xF0\x9F").next(), None);
    assert_eq!((utf8.finish(), utf8.finish()), (Some('\u{FFFD}'), None));
    assert!(utf8.push("😀é".as_bytes()).eq("😀é".chars()));
    assert_eq!(utf8.finish(), None);
}

/// Unsorted tokens, in numbers about powers of 2, are all found.
#[test]
fn every_token_is_found() {
    fn check<const SIZE: usize>() {
        let text = |id: usize| char::from_u32(0x4E00 + (id * 7919 % 10007) as u32).unwrap().to_string();
        let mut tokens: Vec<_> = (0..SIZE).map(|id| (text(id), 0.0)).collect();
        tokens[3].0 = " ".into();
        let file = file(&tokens);
        let vocabulary = Vocabulary::<SIZE>::parse(&file).unwrap();
        for (id, (text, _)) in (0..).zip(&tokens).skip(3) {
            assert_eq!(encode(&vocabulary, text), Ok(vec![1, 3, id]));
        }
    }
    check::<4>();
    check::<5>();
    check::<31>();
    check::<32>();
    check::<33>();
    check::<1009>();
}

/// The vocabulary of stories260K, its ids by sentencepiece 0.2.3.
#[test]
fn real_vocabulary() {
    let Ok(models) = std::env::var("CONSTFORMER_MODELS") else {
        println!("skipped: CONSTFORMER_MODELS does not say where the real models are");
        return;
    };
    let read = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&models).join("stories260K").join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let file = read("tok512.bin");
    let vocabulary = Vocabulary::<512>::parse(&file).unwrap();
    let too_many = Vocabulary::<32_000>::parse(&file).unwrap_err();
    assert_eq!(too_many, VocabularyError::Size { expected: 32_000, found: 512 });

    let story = String::from_utf8(read("golden_greedy_200.txt")).unwrap();
    let ids = encode(&vocabulary, &story).unwrap();
    assert_eq!((ids.len(), &ids[..8]), (202, &[1, 403, 407, 261, 378, 432, 383, 286][..]));
    assert_eq!(ids.iter().zip(0..).map(|(id, i)| id * i).sum::<u32>(), 7_146_048);
    assert_eq!(decode(&vocabulary, &ids), story.as_bytes());

    for (text, expected) in [
        ("", &[1][..]),
        (" ", &[1, 410, 410]),
        ("Once upon a time", &[1, 403, 407, 261, 378]),
        (
            "zwölf ☃ 日本😀",
            &[
                1, 410, 451, 424, 198, 185, 421, 431, 410, 229, 155, 134, 410, 233, 154, 168, 233, 159, 175, 243, 162,
                155, 131,
            ],
        ),
        (
            "<s></s><unk><0x41>",
            &[1, 410, 504, 419, 505, 504, 492, 419, 505, 504, 379, 433, 505, 504, 477, 444, 484, 475, 505],
        ),
        ("  two  spaces\n\n", &[1, 410, 410, 259, 424, 414, 410, 262, 427, 412, 331, 419, 13, 13]),
        ("café €5 “yes”", &[1, 280, 412, 431, 485, 410, 503, 480, 410, 465, 422, 406, 466]),
    ] {
        let ids = encode(&vocabulary, text).unwrap();
        assert_eq!(ids, expected, "{text:?}");
        assert_eq!(decode(&vocabulary, &ids), text.as_bytes());
    }
}
