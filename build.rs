//! Finds out what stable rustc does not say: whether the target has the DSP instructions of Arm's microcontrollers.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cortex-M4 and M7. Of M33 and later, where they are optional, nothing is known: `--cfg constformer_dsp` says that they are there.
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("thumbv7em-")) {
        println!("cargo::rustc-cfg=constformer_dsp");
    }
}
