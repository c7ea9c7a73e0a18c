//! What the programs of KWT-1 are given.

use crate::{
    Trace, board,
    models::{Kws, KwsInput, KwsMemory, YES},
    report,
};
use constformer::{Format, Plan, math::fixed::from_f32};

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

/// Whether the model hears the word, with logits that differ from the reference's by no more than `tolerance`. Reports their bits, and how many
/// instructions a multiply-add takes. Compares them as fixed-point numbers, so that a program has floating-point operations only if its model has.
pub fn hears<T: Format>(kws: &Kws<12, T>, memory: &mut KwsMemory<T>, tolerance: f32) -> bool {
    let mut answer = None;
    let instructions = board::count(|| answer = kws.forward(&INPUT, memory).ok());
    let Some(logits) = answer else { return false };
    let mut trace = Trace::EMPTY;
    trace.add(&logits);
    report::bits("kws.logits", trace.hash);
    report::number("kws.flash", size_of::<Kws<12, T>>() as u32);
    report::number("kws.memory", size_of::<KwsMemory<T>>() as u32);
    report::ratio("kws.multiply-add", instructions, Plan::<Kws, 99, 4>::MACS as u32);
    let (logits, reference) = (logits.map(from_f32), REFERENCE.map(from_f32));
    let near = logits.iter().zip(&reference).all(|(x, y)| x.abs_diff(*y) < from_f32(tolerance).unsigned_abs());
    near && logits.iter().enumerate().all(|(class, logit)| class == YES || *logit < logits[YES])
}

const fn fill(values: &mut [f32], file: &[u8]) {
    let bytes = file.as_chunks().0;
    assert!(bytes.len() == values.len());
    let mut i = 0;
    while i < values.len() {
        values[i] = f32::from_le_bytes(bytes[i]);
        i += 1;
    }
}
