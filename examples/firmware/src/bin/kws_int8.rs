//! KWT-1 hears a word, its weights in integers of 8 bits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::include_model;
use firmware::{kws::hears, models::KwsInt8};

firmware::program!(run);

/// The model, in flash.
static KWS: &KwsInt8 = include_model!(KwsInt8, concat!(env!("FIRMWARE_MODELS"), "/kws_int8.cfm"));

fn run() -> bool {
    hears(KWS, 0.3)
}
