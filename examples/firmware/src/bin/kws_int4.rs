//! KWT-1 hears a word, its weights in integers of 4 bits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Int4, Zero, include_model};
use firmware::{
    kws::hears,
    models::{KwsInt4, KwsMemory},
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// The model, in flash.
static KWS: &KwsInt4 = include_model!(KwsInt4, concat!(env!("FIRMWARE_MODELS"), "/kws_int4.cfm"));

/// Its working memory, in RAM.
static MEMORY: ConstStaticCell<KwsMemory<Int4>> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    MEMORY.try_take().is_some_and(|memory| hears(KWS, memory, 0.3))
}
