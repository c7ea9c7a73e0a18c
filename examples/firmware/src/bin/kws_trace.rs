//! All activations of KWT-1, in one number.

#![cfg_attr(target_os = "none", no_std, no_main)]

use firmware::{
    Trace,
    kws::{INPUT, KWS, MEMORY},
    report,
};

firmware::program!(run);

fn run() -> bool {
    let mut trace = Trace::EMPTY;
    let Some(memory) = MEMORY.try_take() else { return false };
    let well = KWS.observe(&INPUT, memory, &mut trace).is_ok();
    report::number("kws.activations", trace.count);
    report::bits("kws.trace", trace.hash);
    well
}
