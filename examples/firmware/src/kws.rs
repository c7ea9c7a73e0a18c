//! What the programs of KWT-1 are given.

use crate::models::{Kws, KwsInput, KwsMemory};
use constformer::{Zero, include_model};
use static_cell::ConstStaticCell;

/// The model, in flash.
pub static KWS: &Kws = include_model!(Kws, concat!(env!("FIRMWARE_MODELS"), "/kws.cfm"));
/// Its working memory, in RAM.
pub static MEMORY: ConstStaticCell<KwsMemory> = ConstStaticCell::new(KwsMemory::ZERO);

/// The features of someone who says "yes", in flash.
pub static INPUT: KwsInput = {
    let mut input = [[0.0; 40]; 98];
    fill(input.as_flattened_mut(), include_bytes!(concat!(env!("FIRMWARE_MODELS"), "/kws_input.f32")));
    input
};

/// The logits of a reference in `f64`.
pub static REFERENCE: [f32; 12] = {
    let mut logits = [0.0; 12];
    fill(&mut logits, include_bytes!(concat!(env!("FIRMWARE_MODELS"), "/kws_logits.f32")));
    logits
};

const fn fill(values: &mut [f32], file: &[u8]) {
    let bytes = file.as_chunks().0;
    assert!(bytes.len() == values.len());
    let mut i = 0;
    while i < values.len() {
        values[i] = f32::from_le_bytes(bytes[i]);
        i += 1;
    }
}
