//! How deep the stack gets in a forward pass of KWT-1's shape, whose `D_FF` is 256.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::Zero;
use core::hint::black_box;
use firmware::models::{Kws, KwsInput, KwsMemory};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// One layer: those of a stack come one after the other.
static KWS: Kws<1> = Zero::ZERO;
static MEMORY: ConstStaticCell<KwsMemory> = ConstStaticCell::new(KwsMemory::ZERO);
static INPUT: KwsInput = [[0.0; 40]; 98];

fn run() -> bool {
    let Some(memory) = MEMORY.try_take() else { return false };
    #[cfg(target_os = "none")]
    let painted = firmware::board::stack::paint();
    let well = forward(memory);
    #[cfg(target_os = "none")]
    firmware::report::number("stack.used", painted.used() as u32);
    well
}

/// What the analysis of frames begins with.
#[inline(never)]
fn forward(memory: &mut KwsMemory) -> bool {
    black_box(&KWS).forward(&INPUT, memory).is_ok()
}
