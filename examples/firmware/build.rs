//! Tells the linker what memory the board has.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let memory = match env::var("TARGET")?.as_str() {
        "thumbv7em-none-eabihf" | "thumbv7m-none-eabi" => "memory/mps2.x",
        "thumbv6m-none-eabi" => "memory/microbit.x",
        "riscv32imc-unknown-none-elf" => "memory/virt.x",
        _ => return Ok(()), // a host
    };
    let folder = env::var("OUT_DIR")?;
    fs::copy(memory, Path::new(&folder).join("memory.x"))?;
    println!("cargo:rerun-if-changed={memory}");
    println!("cargo:rustc-link-search={folder}");
    if memory.ends_with("virt.x") {
        println!("cargo:rustc-link-arg-bins=-Tmemory.x");
    }
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic"); // sections need not begin at a page
    Ok(())
}
