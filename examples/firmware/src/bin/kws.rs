//! KWT-1 hears a word: its logits, and how many instructions a multiply-add takes.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::include_model;
use firmware::{kws::hears, models::Kws};

firmware::program!(run);

/// The model, in flash.
static KWS: &Kws = include_model!(Kws, concat!(env!("FIRMWARE_MODELS"), "/kws.cfm"));

fn run() -> bool {
    hears(KWS, 1e-4)
}
