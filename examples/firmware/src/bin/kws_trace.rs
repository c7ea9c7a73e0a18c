//! All activations of KWT-1, in one number.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Zero, include_model};
use firmware::{
    Trace,
    kws::INPUT,
    models::{Kws, KwsMemory},
    report,
};
use static_cell::ConstStaticCell;

firmware::program!(run);

static KWS: &Kws = include_model!(Kws, concat!(env!("FIRMWARE_MODELS"), "/kws.cfm"));

static MEMORY: ConstStaticCell<KwsMemory> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    let mut trace = Trace::EMPTY;
    let Some(memory) = MEMORY.try_take() else { return false };
    let well = KWS.observe(&INPUT, memory, &mut trace).is_ok();
    report::number("kws.activations", trace.count);
    report::bits("kws.trace", trace.hash);
    well
}
