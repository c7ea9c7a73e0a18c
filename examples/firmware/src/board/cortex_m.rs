//! Cortex-M.

#![expect(unsafe_code, reason = "registers of the board; that nothing may be relied on after a fault")]

pub use cortex_m_rt::entry;

/// The first timer of an mps2 board, in the CMSDK of Arm: 25 MHz, downwards.
const TIMER: *mut u32 = 0x4000_0000 as *mut u32;

/// Instructions so far, of which the emulator runs one in 64 ns (`-icount shift=6`): 1.6 steps of the timer. Other boards have
/// none, and fault.
#[inline(always)]
pub fn instructions() -> u32 {
    // SAFETY: these are the timer's control, value and reload registers, which no one else uses; on this board they are always
    // there. Writing the same again while it runs changes nothing.
    let steps = unsafe {
        if TIMER.read_volatile() == 0 {
            TIMER.add(2).write_volatile(u32::MAX);
            TIMER.add(1).write_volatile(u32::MAX);
            TIMER.write_volatile(1);
        }
        u32::MAX - TIMER.add(1).read_volatile()
    };
    (u64::from(steps) * 10 / 16) as u32
}

/// A fault ends the program.
#[cortex_m_rt::exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    super::exit(false)
}
