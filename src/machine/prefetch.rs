//! Asking memory for what will be read soon.
//!
//! A matrix larger than the caches comes at the speed of memory, while rows are multiplied with the panel that is there
//! already. The processor cannot guess what is next, as it sees the same panel again and again.

/// Asks for the cache line that `x` begins in. It changes nothing but time; on a processor without such an instruction it does
/// nothing.
#[inline(always)]
pub(crate) fn prefetch(x: &[f32]) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        #[expect(unsafe_code, reason = "an instruction that takes a pointer")]
        // SAFETY: PREFETCHT1 belongs to SSE, which every x86-64 has. It is a hint: it reads nothing that the program sees, writes
        // nothing, and faults at no address. Besides, the pointer is that of a slice.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(x.as_ptr().cast());
        }
    }
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    let _ = x;
}
