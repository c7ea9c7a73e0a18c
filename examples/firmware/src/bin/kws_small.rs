//! KWT-1 hears a word in 28 KB of RAM: its weights, keys, values and the tokens between its layers are integers of 8 bits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Int8, Int8Cache, Int8Stream, Zero, include_model};
use firmware::{
    kws::hears,
    models::{KwsMemory, KwsSmall},
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// The model, in flash: the image of `kws_int8`.
static KWS: &KwsSmall = include_model!(KwsSmall, concat!(env!("FIRMWARE_MODELS"), "/kws_int8.cfm"));

type SmallMemory = KwsMemory<Int8Stream<Int8Cache<Int8>>>;

/// Its working memory, in RAM.
static MEMORY: ConstStaticCell<SmallMemory> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    MEMORY.try_take().is_some_and(|memory| hears(KWS, memory, 0.3))
}
