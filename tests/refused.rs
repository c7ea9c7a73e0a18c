//! What rustc refuses, with its words pinned, and the twins of it that it accepts.
//!
//! `TRYBUILD=overwrite cargo test --test refused` pins the words anew; read them before you commit them. `UPDATE_IMAGES=1`
//! does the same for the images.

use constformer::{EncoderBlock, Parameters, Vit, boxed, image};
use std::{env, fs, path::Path, process::Command};
use trybuild::TestCases;

/// The compiler whose words are pinned; others word their errors differently.
const RUSTC: &str = "rustc 1.95.";

fn rustc(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output().expect("rustc answers");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

fn words_are_pinned() -> bool {
    let version = rustc(&["--version"]);
    let source = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src/rust/library");
    if !version.starts_with(RUSTC) {
        eprintln!("SKIPPED: the words are pinned for {RUSTC}x, this is {version}");
    } else if source.exists() {
        eprintln!("SKIPPED: the words are pinned without the component rust-src, from which rustc quotes");
    } else {
        return true;
    }
    false
}

/// `cargo check` says it, and so an editor does: there is no `pass` among these, with which trybuild would build.
#[test]
fn in_check() {
    if words_are_pinned() {
        TestCases::new().compile_fail("tests/refused/*.rs");
    }
}

/// `cargo build` says it: assertions on constants of generic functions, which are only evaluated for what is used.
#[test]
fn in_build() {
    let cases = TestCases::new();
    cases.pass("tests/refused/accepted/twins.rs");
    if words_are_pinned() {
        cases.compile_fail("tests/refused/build/*.rs");
    }
}

/// The images that the programs include are what `image::encode` writes, byte for byte, and what may become of it.
#[test]
fn images() {
    let mut block = boxed::<EncoderBlock<Vit, 8, 8, 2>>();
    block.for_each_tensor_mut(|name, mut tensor| {
        let is_gain = name.to_string().ends_with("norm.weight");
        let stored = tensor.stored_mut().iter_mut().enumerate();
        stored.for_each(|(i, number)| *number = if is_gain { 1.0 } else { i as f32 / 64.0 });
    });
    let mut good = vec![];
    image::encode(&*block, |part| good.extend_from_slice(part));

    let truncated = good[..good.len() - 4].to_vec();
    let as_text = [&good[..4], &good[5..]].concat(); // "\r\n" has become "\n"
    let mut version_1 = good.clone();
    version_1[10] = 1;

    for (name, expected) in [("block", good), ("truncated", truncated), ("as_text", as_text), ("version_1", version_1)]
    {
        let path = format!("{}/tests/refused/images/{name}.cfm", env!("CARGO_MANIFEST_DIR"));
        if env::var_os("UPDATE_IMAGES").is_some() {
            fs::write(&path, &expected).expect("the image can be written");
        }
        assert!(expected.len() < 4096);
        assert!(fs::read(&path).expect("the image is there") == expected, "{path} is not what `image::encode` writes");
    }
}
