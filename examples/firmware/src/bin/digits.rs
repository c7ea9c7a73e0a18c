//! The example `digits`, on a microcontroller: images of the test set, what they are said to be, and the logits.

#![cfg_attr(target_os = "none", no_std, no_main)]

use firmware::{
    Trace,
    digits::{DIGITS, EXAMPLES, MEMORY},
    report,
};

firmware::program!(run);

fn run() -> bool {
    let Some(memory) = MEMORY.try_take() else { return false };
    let (mut right, mut logits_of_all) = (true, Trace::EMPTY);
    for example in &EXAMPLES {
        let Ok(logits) = DIGITS.forward(&example.patches(), memory) else { return false };
        let (class, _) = (0..)
            .zip(logits)
            .fold((0, f32::NEG_INFINITY), |best, (class, logit)| if logit > best.1 { (class, logit) } else { best });
        report::number("digits.label", example.label.into());
        report::number("digits.class", class);
        for logit in logits {
            report::bits("digits.logit", logit.to_bits());
        }
        logits_of_all.add(&logits);
        right &= class == u32::from(example.label);
    }
    report::bits("digits.logits", logits_of_all.hash);
    right
}
