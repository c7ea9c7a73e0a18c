//! All activations of the example `digits`, in one number.

#![cfg_attr(target_os = "none", no_std, no_main)]

use firmware::{
    Trace,
    digits::{DIGITS, EXAMPLES, MEMORY},
    report,
};

firmware::program!(run);

fn run() -> bool {
    let Some(memory) = MEMORY.try_take() else { return false };
    let mut trace = Trace::EMPTY;
    for example in &EXAMPLES {
        if DIGITS.observe(&example.patches(), memory, &mut trace).is_err() {
            return false;
        }
    }
    report::number("digits.activations", trace.count);
    report::bits("digits.trace", trace.hash);
    true
}
