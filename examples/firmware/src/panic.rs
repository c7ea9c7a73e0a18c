//! A program that can panic does not link.

use core::panic::PanicInfo;

/// Calls what is nowhere: the linker misses it, unless the optimiser has found that no panic is reachable. Builds with debug
/// assertions have panics.
#[cfg_attr(not(debug_assertions), expect(unsafe_code, reason = "a symbol of the linker's"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(not(debug_assertions))]
    {
        unsafe extern "C" {
            fn a_panic_is_reachable() -> !;
        }
        // SAFETY: it is never called, as no program that calls it can be linked.
        unsafe { a_panic_is_reachable() }
    }
    #[cfg(debug_assertions)]
    crate::board::exit(false)
}
