//! What the kernel is told.
#![expect(unsafe_code, reason = "`madvise` is a function of C")]

use core::ptr::NonNull;

/// Asks for huge pages where the `size` bytes from `start` on are touched next. Nothing is lost when there are none.
pub(super) fn advise(start: NonNull<u8>, size: usize) {
    // SAFETY: the advice changes no byte and no right of access, whatever the addresses are: only how large the pages are.
    let _ = unsafe { libc::madvise(start.as_ptr().cast(), size, libc::MADV_HUGEPAGE) };
}
