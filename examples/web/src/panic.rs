//! A module that can panic cannot be instantiated.

use core::panic::PanicInfo;

/// Calls what is nowhere: the module would import it, unless the optimiser has found that no panic is reachable. `test` and the
/// page instantiate the module without imports. Builds with debug assertions have panics.
#[cfg_attr(not(debug_assertions), expect(unsafe_code, reason = "a symbol of the linker's"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(not(debug_assertions))]
    {
        unsafe extern "C" {
            fn a_panic_is_reachable() -> !;
        }
        // SAFETY: it is never called, as no module that calls it can be instantiated.
        unsafe { a_panic_is_reachable() }
    }
    #[cfg(debug_assertions)]
    core::arch::wasm32::unreachable()
}
