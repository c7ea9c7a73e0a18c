//! KWT-1 hears a word: its logits, and how many instructions a multiply-add takes.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::Plan;
use firmware::{
    Trace, board,
    kws::{INPUT, KWS, MEMORY, REFERENCE},
    models::{Kws, KwsMemory, YES},
    report,
};

firmware::program!(run);

fn run() -> bool {
    let Some(memory) = MEMORY.try_take() else { return false };
    let mut answer = None;
    let instructions = board::count(|| answer = KWS.forward(&INPUT, memory).ok());
    let Some(logits) = answer else { return false };
    let mut trace = Trace::EMPTY;
    trace.add(&logits);
    report::bits("kws.logits", trace.hash);
    report::number("kws.memory", size_of::<KwsMemory>() as u32);
    report::ratio("kws.multiply-add", instructions, Plan::<Kws, 99, 4>::MACS as u32);
    let near = logits.iter().zip(&REFERENCE).all(|(x, y)| (x - y).abs() < 1e-4);
    near && logits.iter().enumerate().all(|(class, logit)| class == YES || *logit < logits[YES])
}
