//! stories260K tells its story, always by the most probable token.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Plan, Zero, include_model, sampling::argmax, tokenizer};
use firmware::{
    Trace, board,
    models::{Stories, StoriesMemory},
    report,
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// Tokens of the story.
const LENGTH: usize = 200;
/// The position whose token is measured.
const MEASURED: usize = 100;

type Vocabulary = tokenizer::Vocabulary<'static, 512>;

static STORIES: &Stories = include_model!(Stories, concat!(env!("FIRMWARE_MODELS"), "/stories.cfm"));
static MEMORY: ConstStaticCell<StoriesMemory<LENGTH>> = ConstStaticCell::new(StoriesMemory::ZERO);
static VOCABULARY: Vocabulary =
    match Vocabulary::parse(include_bytes!(concat!(env!("FIRMWARE_MODELS"), "/stories_vocabulary.bin"))) {
        Ok(vocabulary) => vocabulary,
        Err(_) => panic!("not a vocabulary of 512 tokens"),
    };

/// Multiply-adds of the measured token: what it has more than the one before it, of which the head is no part.
const MACS: u64 =
    Plan::<Stories, { MEASURED + 1 }>::MACS - Plan::<Stories, MEASURED>::MACS + 64 * Vocabulary::SIZE as u64;

fn run() -> bool {
    let Some(memory) = MEMORY.try_take() else { return false };
    let mut logits = [0.0; Vocabulary::SIZE];
    let (mut id, mut instructions, mut trace) = (Vocabulary::BOS, 0, Trace::EMPTY);
    for position in 0..LENGTH {
        let mut well = false;
        let count = board::count(|| well = STORIES.extend(&[id], memory, &mut logits).is_ok());
        if position == MEASURED {
            instructions = count;
        }
        trace.add(&logits);
        let (true, Ok(next)) = (well, argmax(&logits)) else { return false };
        let Ok(text) = VOCABULARY.decode(id, next) else { return false };
        board::write(text);
        id = next;
    }
    board::write(b"\n");
    report::bits("stories.logits", trace.hash);
    report::ratio("stories.multiply-add", instructions, MACS as u32);
    true
}
