//! KWT-1 hears a word: its logits, and how many instructions a multiply-add takes.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Zero, include_model};
use firmware::{
    kws::hears,
    models::{Kws, KwsMemory},
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// The model, in flash.
static KWS: &Kws = include_model!(Kws, concat!(env!("FIRMWARE_MODELS"), "/kws.cfm"));

/// Its working memory, in RAM.
static MEMORY: ConstStaticCell<KwsMemory> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    MEMORY.try_take().is_some_and(|memory| hears(KWS, memory, 1e-4))
}
