//! A program with neither operating system nor allocator. rustc refuses to link one in which a crate wants a heap.

#![no_std]
#![no_main]

use downstream as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
