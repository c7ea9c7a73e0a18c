//! The boards, and the host as one: where text goes, how a program ends, what can be measured.

#[cfg(target_os = "none")]
pub mod stack;
#[cfg_attr(all(target_os = "none", target_arch = "arm"), path = "cortex_m.rs")]
#[cfg_attr(all(target_os = "none", target_arch = "riscv32"), path = "riscv.rs")]
#[cfg_attr(not(target_os = "none"), path = "host.rs")]
mod this;

#[cfg(target_os = "none")]
pub use this::entry;
pub use this::instructions;

/// Writes to the standard output of the emulator, or of the host.
pub fn write(text: &[u8]) {
    #[cfg(target_os = "none")]
    for byte in text {
        semihosting::sys::arm_compat::sys_writec(*byte);
    }
    #[cfg(not(target_os = "none"))]
    {
        use std::io::Write;
        // Nobody reads on: nothing is to be done.
        let _ = std::io::stdout().write_all(text);
    }
}

/// Ends the program, and the emulator: with status 0 if all is well, else with 1.
pub fn exit(well: bool) -> ! {
    #[cfg(target_os = "none")]
    use semihosting::process;
    #[cfg(not(target_os = "none"))]
    use std::process;
    process::exit(i32::from(!well))
}

/// How many instructions `f` takes; 0 on a host, which does not count.
#[inline(always)]
pub fn count(f: impl FnOnce()) -> u32 {
    let empty = measure(|| ());
    measure(f).saturating_sub(empty)
}

#[inline(always)]
fn measure(f: impl FnOnce()) -> u32 {
    let start = instructions();
    f();
    instructions().wrapping_sub(start)
}
