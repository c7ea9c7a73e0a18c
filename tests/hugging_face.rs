//! Tokenizers of Hugging Face: what Python makes of the same files and texts (`tests/reference/tiny_tokenizers.py`).

mod common;

use common::random::Random;
use constformer::{
    UnknownToken,
    tokenizer::{HuggingFace, HuggingFaceError},
};
use proptest::prelude::*;
use serde_json::Value;
use std::{fs, ops::Range, sync::LazyLock};

const WORDPIECE: usize = 95;
const BYTE_PAIRS: usize = 331;

fn golden(file: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

static WORDS: LazyLock<HuggingFace<WORDPIECE>> =
    LazyLock::new(|| HuggingFace::from_bytes(&golden("wordpiece.json")).unwrap());
static BYTES: LazyLock<HuggingFace<BYTE_PAIRS>> =
    LazyLock::new(|| HuggingFace::from_bytes(&golden("byte_pairs.json")).unwrap());

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

fn pieces<const VOCABULARY: usize>(tokenizer: &HuggingFace<VOCABULARY>, ids: &[u32], skip: bool) -> Vec<String> {
    let mut pieces = tokenizer.pieces(skip);
    ids.iter().map(|id| pieces.push(*id).unwrap().unwrap_or_default()).collect()
}

fn as_python<const VOCABULARY: usize>(name: &str, tokenizer: &HuggingFace<VOCABULARY>) {
    let golden: Value = serde_json::from_slice(&golden("tokenizers.json")).unwrap();
    let texts = golden["cases"][name]["texts"].as_array().unwrap();
    assert_eq!((texts.len(), golden["cases"][name]["size"].as_u64()), (20, Some(VOCABULARY as u64)));
    for case in texts {
        let text = case["text"].as_str().unwrap();
        let ids = numbers(&case["ids"]);
        assert_eq!(tokenizer.encode(text).unwrap(), numbers(&case["bare"]), "{text:?}");
        assert_eq!(tokenizer.encode_special(text, usize::MAX).unwrap(), ids, "{text:?}");

        let (bare, places): (Vec<_>, Vec<_>) = tokenizer.encode_with_places(text).unwrap().into_iter().unzip();
        assert_eq!(bare, numbers(&case["bare"]));
        let expected = case["places"].as_array().unwrap().iter().map(numbers);
        let expected: Vec<Range<usize>> = expected.map(|place| place[0] as usize..place[1] as usize).collect();
        assert_eq!(places, expected, "{text:?}");
        assert!(places.into_iter().all(|place| text.get(place).is_some()));

        for (length, expected) in case["truncated"].as_object().unwrap() {
            let found = tokenizer.encode_special(text, length.parse().unwrap()).unwrap();
            assert_eq!(found, numbers(expected), "{text:?} in {length}");
        }
        for (length, expected) in case["pairs"].as_object().unwrap() {
            let [first, second] =
                tokenizer.encode_pair(text, case["other"].as_str().unwrap(), length.parse().unwrap()).unwrap();
            let types: Vec<u32> = first.iter().map(|_| 0).chain(second.iter().map(|_| 1)).collect();
            assert_eq!([first, second].concat(), numbers(&expected[0]), "{text:?} in {length}");
            assert_eq!(types, numbers(&expected[1]));
        }

        for (skip, decoded, parts) in [(true, "decoded", "pieces"), (false, "decoded_all", "pieces_all")] {
            assert_eq!(tokenizer.decode(&ids, skip).unwrap(), case[decoded].as_str().unwrap());
            let expected: Vec<_> = case[parts].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect();
            assert_eq!(pieces(tokenizer, &ids, skip), expected);
            assert_eq!(expected.concat(), case[decoded].as_str().unwrap());
        }
    }
}

#[test]
fn word_pieces_as_python() {
    as_python("wordpiece", &WORDS);
}

#[test]
fn byte_pairs_as_python() {
    as_python("byte_pairs", &BYTES);
}

/// The files ask for padding to 24 tokens and for truncation to 6.
#[test]
fn padding_and_truncation_of_the_file_are_switched_off() {
    for file in ["wordpiece.json", "byte_pairs.json"] {
        let json: Value = serde_json::from_slice(&golden(file)).unwrap();
        assert_eq!(
            (json["padding"]["strategy"]["Fixed"].as_u64(), json["truncation"]["max_length"].as_u64()),
            (Some(24), Some(6))
        );
    }
    assert_eq!(WORDS.encode_special("the", 512).unwrap().len(), 3);
    assert_eq!(WORDS.encode_special(&"the ".repeat(1000), 512).unwrap().len(), 512);
    assert_eq!(WORDS.encode(&"the ".repeat(1000)).unwrap().len(), 1000);
    assert_eq!(BYTES.encode_special(&" the".repeat(1000), usize::MAX).unwrap().len(), 1002);
}

#[test]
fn names_and_ids() {
    assert_eq!((WORDS.id("[MASK]"), WORDS.token(4), WORDS.id("mask")), (Some(4), Some("[MASK]".into()), None));
    assert_eq!((WORDS.id("the"), WORDS.token(95)), (Some(90), None));
    assert_eq!(format!("{:?}", *WORDS), "HuggingFace { vocabulary: 95, tokens: 95 }");
    assert_eq!(format!("{:?}", WORDS.pieces(true)), "Pieces { vocabulary: 95, .. }");
}

// --- sizes -----------------------------------------------------------------------------------------------------------

#[test]
fn a_file_with_more_tokens_than_the_model_has_rows_is_an_error() {
    let error = HuggingFace::<94>::from_bytes(&golden("wordpiece.json")).unwrap_err();
    assert!(matches!(error, HuggingFaceError::Vocabulary { expected: 94, found: 95 }));
    assert_eq!(error.to_string(), "token ids below 94 expected, as the model has them, found some up to 94");
    assert!(matches!(
        HuggingFace::<0>::from_bytes(&golden("byte_pairs.json")),
        Err(HuggingFaceError::Vocabulary { expected: 0, found: 331 })
    ));
}

/// Ids of special tokens are in three parts of the file, and need not be in the vocabulary.
#[test]
fn ids_in_every_part_of_the_file_are_looked_at() {
    let change = |change: &dyn Fn(&mut Value)| {
        let mut json: Value = serde_json::from_slice(&golden("wordpiece.json")).unwrap();
        change(&mut json);
        HuggingFace::<WORDPIECE>::from_bytes(json.to_string().as_bytes())
    };
    assert!(change(&|_| ()).is_ok());
    let found = |result: Result<HuggingFace<WORDPIECE>, HuggingFaceError>| match result.unwrap_err() {
        HuggingFaceError::Vocabulary { expected: WORDPIECE, found } => found,
        other => panic!("{other}"),
    };
    assert_eq!(found(change(&|json| json["model"]["vocab"]["the"] = 200.into())), 201);
    let word = serde_json::json!({"id": 95, "content": "more", "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false, "special": false});
    assert_eq!(found(change(&|json| json["added_tokens"].as_array_mut().unwrap().push(word.clone()))), 96);
    let ends = |json: &mut Value| json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = serde_json::json!([1000]);
    assert_eq!(found(change(&ends)), 1001);
    // Of pairs only.
    let pair = |json: &mut Value| {
        json["post_processor"]["special_tokens"]["[X]"] =
            serde_json::json!({"id": "[X]", "ids": [u32::MAX], "tokens": ["[X]"]});
        json["post_processor"]["pair"]
            .as_array_mut()
            .unwrap()
            .push(serde_json::json!({"SpecialToken": {"id": "[X]", "type_id": 1}}));
    };
    assert_eq!(found(change(&pair)), 1 << 32);
}

/// Tables are padded to a round number: no text has those ids, and they are no text.
#[test]
fn a_file_with_fewer_tokens_than_the_model_has_rows_is_fine() {
    let padded = HuggingFace::<128>::from_bytes(&golden("wordpiece.json")).unwrap();
    let ids = padded.encode_special("the ships", 16).unwrap();
    assert_eq!(ids, WORDS.encode_special("the ships", 16).unwrap());
    let expected = WORDS.decode(&ids, true).unwrap();
    assert_eq!(padded.decode(&[&ids[..], &[95, 127]].concat(), true).unwrap(), expected);
    let mut pieces = padded.pieces(true);
    assert_eq!(pieces.push(127).unwrap(), None);
}

#[test]
fn ids_beyond_the_vocabulary_are_errors() {
    for id in [95, 96, 1 << 20, u32::MAX] {
        let expected = UnknownToken { id, vocabulary: 95 };
        let is_expected = |error| matches!(error, HuggingFaceError::UnknownToken(found) if found == expected);
        assert!(is_expected(WORDS.decode(&[2, id, 3], true).unwrap_err()));
        assert!(is_expected(WORDS.pieces(false).push(id).unwrap_err()));
    }
    assert_eq!(WORDS.decode(&[], false).unwrap(), "");
    assert_eq!(WORDS.decode(&[95], true).unwrap_err().to_string(), "token id 95 in a vocabulary of 95");
}

#[test]
fn no_room_for_the_special_tokens_is_an_error() {
    for length in [0, 1] {
        let error = WORDS.encode_special("the", length).unwrap_err();
        assert!(matches!(&error, HuggingFaceError::TooLong(e) if (e.capacity, e.found) == (length, 2)), "{error}");
    }
    assert!(matches!(WORDS.encode_pair("the", "the", 2), Err(HuggingFaceError::TooLong(_))));
    assert!(matches!(BYTES.encode_pair("the", "the", 3), Err(HuggingFaceError::TooLong(_))));
    assert_eq!(WORDS.encode_special("the", 2).unwrap(), [2, 3]);
    assert_eq!(WORDS.encode_pair("the", "the", 3).unwrap(), [vec![2, 3], vec![3]]);
}

/// XLNet puts its class token last, as type 2.
#[test]
fn pairs_of_other_types_are_errors() {
    let mut json: Value = serde_json::from_slice(&golden("wordpiece.json")).unwrap();
    let last = json["post_processor"]["pair"].as_array_mut().unwrap().last_mut().unwrap();
    last["SpecialToken"]["type_id"] = 2.into();
    let tokenizer = HuggingFace::<WORDPIECE>::from_bytes(json.to_string().as_bytes()).unwrap();
    let error = tokenizer.encode_pair("the", "the", 16).unwrap_err();
    assert!(matches!(error, HuggingFaceError::Type { at: 4, found: 2 }));
    assert_eq!(error.to_string(), "a pair's tokens of type 0 and then of type 1 expected, found type 2 at token 4");
}

/// Without a post-processor, a pair is one text after the other.
#[test]
fn no_special_tokens() {
    let mut json: Value = serde_json::from_slice(&golden("wordpiece.json")).unwrap();
    json["post_processor"] = Value::Null;
    let tokenizer = HuggingFace::<WORDPIECE>::from_bytes(json.to_string().as_bytes()).unwrap();
    let the = WORDS.encode("the").unwrap();
    assert_eq!(tokenizer.encode_special("the", 1).unwrap(), the);
    assert_eq!(tokenizer.encode_pair("the", "the", 2).unwrap(), [the.clone(), the.clone()]);
    assert_eq!(tokenizer.encode_pair("the", "the", 1).unwrap(), [vec![], the]);
    assert_eq!(tokenizer.encode_pair("the", "the", 0).unwrap(), [vec![0; 0], vec![0; 0]]);
}

// --- files that are none ---------------------------------------------------------------------------------------------

#[test]
fn files_and_folders() {
    let folder = std::env::temp_dir().join(format!("constformer-{}-tokenizer", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let error = HuggingFace::<WORDPIECE>::open(&folder).unwrap_err();
    assert!(matches!(&error, HuggingFaceError::File { path, .. } if path.ends_with("tokenizer.json")), "{error}");
    fs::write(folder.join("tokenizer.json"), golden("wordpiece.json")).unwrap();
    fs::write(folder.join("other.json"), golden("byte_pairs.json")).unwrap();
    let words = HuggingFace::<WORDPIECE>::open(&folder).unwrap();
    assert_eq!(words.encode("the").unwrap(), WORDS.encode("the").unwrap());
    let bytes = HuggingFace::<BYTE_PAIRS>::open(folder.join("other.json")).unwrap();
    assert_eq!(bytes.encode("the").unwrap(), BYTES.encode("the").unwrap());
    fs::remove_dir_all(&folder).unwrap();
    let error = HuggingFace::<WORDPIECE>::open(&folder).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn every_truncation_is_an_error() {
    for file in ["wordpiece.json", "byte_pairs.json"] {
        let json = golden(file);
        for len in 0..json.len() {
            let result = HuggingFace::<BYTE_PAIRS>::from_bytes(&json[..len]);
            assert!(matches!(result, Err(HuggingFaceError::Malformed { .. })), "{len} bytes");
        }
    }
    for json in
        ["{}", "[]", "null", "\"the\"", "{\"model\": {}}", "{\"version\": \"1.0\", \"model\": null}", "\u{feff}{}"]
    {
        let error = HuggingFace::<BYTE_PAIRS>::from_bytes(json.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("not a tokenizer.json, or damaged: "), "{error}");
    }
    assert!(HuggingFace::<BYTE_PAIRS>::from_bytes("[".repeat(100_000).as_bytes()).is_err());
    assert!(HuggingFace::<BYTE_PAIRS>::from_bytes(b"{\"\xff\": 1}").is_err());
}

/// A damaged byte is an error, or another tokenizer that works.
#[test]
fn damaged_files_are_no_panic() {
    let (mut accepted, mut refused) = (0, 0);
    let mut random = Random(7);
    let mut at_random = |n: usize| ((random.number() / 12f32.sqrt() + 0.5) * n as f32) as usize % n;
    for file in ["wordpiece.json", "byte_pairs.json"] {
        let json = golden(file);
        for at in 0..json.len() {
            let mut damaged = json.clone();
            damaged[at] = at_random(95) as u8 + b' ';
            let Ok(tokenizer) = HuggingFace::<400>::from_bytes(&damaged) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let text = "the keeper's [CLS] Straße <s> 😀";
            let Ok(ids) = tokenizer.encode_special(text, 20) else { continue };
            assert!(ids.len() <= 20 && ids.iter().all(|id| *id < 400));
            tokenizer.decode(&ids, false).unwrap();
            let _ = tokenizer.encode_pair(text, "the", 20);
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 500 && refused > 500);
}

// --- texts of all kinds ----------------------------------------------------------------------------------------------

#[test]
fn long_texts() {
    let text = "The ships that pass in the night. \0 你好 👍🏽 ".repeat(20_000);
    let ids = WORDS.encode(&text).unwrap();
    assert!(ids.len() > 200_000);
    let cut = WORDS.encode_special(&text, 256).unwrap();
    assert_eq!((cut[0], &cut[1..255], cut[255]), (2, &ids[..254], 3));
    assert_eq!(BYTES.decode(&BYTES.encode(&text).unwrap(), true).unwrap(), text);
    // A single word of a million letters.
    let word = "a".repeat(1_000_000);
    assert_eq!(WORDS.encode(&word).unwrap(), [1], "longer than any word: [UNK]");
}

proptest! {
    #[test]
    fn bytes_come_back(text: String) {
        let ids = BYTES.encode(&text).unwrap();
        // What looks like a special token is one.
        if !text.contains('<') {
            prop_assert_eq!(BYTES.decode(&ids, false).unwrap(), text.clone());
            let parts = pieces(&BYTES, &ids, false).concat();
            let lossy = text.contains(char::REPLACEMENT_CHARACTER); // at its end, it looks like what is incomplete
            prop_assert!(text.starts_with(&parts) && (lossy || parts == text));
        }
    }

    #[test]
    fn truncation_is_a_beginning_with_its_special_tokens(text: String, length in 2..20usize) {
        let (bare, cut) = (WORDS.encode(&text).unwrap(), WORDS.encode_special(&text, length).unwrap());
        let kept = bare.len().min(length - 2);
        prop_assert_eq!(cut, [&[2], &bare[..kept], &[3]].concat());
    }

    #[test]
    fn any_ids_are_no_panic(ids in prop::collection::vec(0..BYTE_PAIRS as u32, 0..40)) {
        BYTES.decode(&ids, true).unwrap();
        let mut pieces = BYTES.pieces(false);
        for id in ids {
            let _ = pieces.push(id);
        }
    }
}

// --- a real one ------------------------------------------------------------------------------------------------------

/// all-MiniLM-L6-v2's, on its hundred sentences, in 256 tokens.
#[test]
fn mini_lm() {
    let Some(folder) = common::mini_lm() else { return };
    let tokenizer = HuggingFace::<30_522>::open(folder).unwrap();
    let mut golden = common::golden::Golden::open("minilm.safetensors");
    let about: Value = serde_json::from_str(&golden.reference).unwrap();
    let sentences = about["sentences"].as_array().unwrap();
    let mut longest = 0;
    for (k, sentence) in sentences.iter().enumerate() {
        let expected: Vec<u32> = golden.take(&format!("input.{k}")).numbers.iter().map(|id| *id as u32).collect();
        assert_eq!(tokenizer.encode_special(sentence.as_str().unwrap(), 256).unwrap(), expected, "{sentence}");
        longest = longest.max(expected.len());
    }
    assert_eq!((sentences.len(), longest), (100, 256));
}
