//! The model of this example, as a type, and its letters.

use constformer::{InputError, Transformer, TransformerMemory, Vaswani, sampling::argmax, tokenizer::Characters};

/// 2 + 2 layers of 32 features, 64 between the products of the feed-forward layers, 4 heads; a text has up to 64 letters.
pub(crate) type Translator = Transformer<Vaswani, 2, 32, 64, 4, LETTERS, 64>;
/// Room for an English number and a German one.
pub(crate) type Memory = TransformerMemory<2, 32, 64, 64, 48>;

const LETTERS: usize = 28;

/// `<` begins and `>` ends a target.
static ALPHABET: Characters<LETTERS> = match Characters::new("<> -abcdefghilnorstuvwxyzßöü") {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("not an alphabet of 28 letters"),
};
const BEGIN: u32 = 0;
const END: u32 = 1;

/// What the model makes of an English number.
pub(crate) fn translate(
    translator: &Translator,
    english: &str,
    memory: &mut Memory,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut source = [0; 64];
    let len = ALPHABET.encode(english, &mut source)?;
    translator.encode(&source[..len], memory)?;
    let (mut german, mut letter, mut logits) = (String::new(), BEGIN, [0.0; LETTERS]);
    loop {
        match translator.extend(&[letter], memory, &mut logits) {
            Err(InputError::TooLong(_) | InputError::NoPosition(_)) => return Ok(german), // it does not come to an end
            result => result?,
        }
        letter = argmax(&logits)?;
        if letter == END {
            return Ok(german);
        }
        german.push(ALPHABET.decode(letter)?);
    }
}
