//! KWT-1 hears a word, its weights in integers of 8 bits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Int8, Zero, include_model};
use firmware::{
    kws::hears,
    models::{KwsInt8, KwsMemory},
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// The model, in flash.
static KWS: &KwsInt8 = include_model!(KwsInt8, concat!(env!("FIRMWARE_MODELS"), "/kws_int8.cfm"));

/// Its working memory, in RAM.
static MEMORY: ConstStaticCell<KwsMemory<Int8>> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    MEMORY.try_take().is_some_and(|memory| hears(KWS, memory, 0.3))
}
