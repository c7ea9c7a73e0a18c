//! Finds out what stable rustc does not say: which instructions of Arm's microcontrollers the target has.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    // Cortex-M4 and M7 have the DSP instructions. Of M33 and later, where they are optional, nothing is known: `--cfg constformer_dsp` says that
    // they are there.
    if target.starts_with("thumbv7em-") {
        println!("cargo::rustc-cfg=constformer_dsp");
    }
    // And, with an FPU, those that load several numbers.
    if target.starts_with("thumbv7em-") && target.ends_with("eabihf") {
        println!("cargo::rustc-cfg=constformer_vldm");
    }
}
