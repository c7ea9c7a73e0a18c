//! How deep the stack gets: what is below it is painted, and looked at afterwards.

#![expect(unsafe_code, reason = "memory that belongs to no variable")]

use core::ptr;

const PAINT: u32 = 0xc0de_57ac;

/// Bytes below its own frame that [`paint`] leaves alone.
const MARGIN: usize = 64;

unsafe extern "C" {
    /// The end of the statics.
    #[cfg_attr(target_arch = "arm", link_name = "__sheap")]
    #[cfg_attr(target_arch = "riscv32", link_name = "_sheap")]
    static mut BOTTOM: u32;
}

/// The stack below, painted.
#[derive(Debug)]
pub struct Painted {
    top: usize,
}

/// Paints all between the statics and the stack.
#[inline(never)]
pub fn paint() -> Painted {
    let here = 0u32;
    let top = ptr::from_ref(&here).addr() - MARGIN;
    let mut place = &raw mut BOTTOM;
    while place.addr() < top {
        // SAFETY: it lies above the statics and below the frame of this function, and there is no heap: it belongs to no one.
        // Volatile, so that no function is called instead, whose frame would lie there.
        unsafe {
            place.write_volatile(PAINT);
            place = place.add(1);
        }
    }
    Painted { top }
}

impl Painted {
    /// Bytes of the stack that were used since, at most.
    #[must_use]
    pub fn used(&self) -> usize {
        let mut place = &raw const BOTTOM;
        // SAFETY: as in `paint`.
        while place.addr() < self.top && unsafe { place.read_volatile() } == PAINT {
            // SAFETY: as in `paint`.
            place = unsafe { place.add(1) };
        }
        self.top + MARGIN - place.addr()
    }
}
