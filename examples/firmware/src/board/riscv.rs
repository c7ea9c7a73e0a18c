//! RISC-V.

pub use riscv_rt::entry;

/// Instructions so far, modulo 2³².
#[expect(unsafe_code, reason = "a register of the processor")]
#[inline(always)]
pub fn instructions() -> u32 {
    let count;
    // SAFETY: it reads a counter that every processor has.
    unsafe { core::arch::asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

/// A fault ends the program.
#[expect(unsafe_code, reason = "what the runtime calls by name")]
// SAFETY: there is no other function of this name, and it is what the runtime declares.
#[unsafe(no_mangle)]
extern "C" fn ExceptionHandler(_: &riscv_rt::TrapFrame) -> ! {
    super::exit(false)
}
