//! Values on the heap that are as fast to read as memory can be: aligned, and large ones on huge pages.
#![expect(
    unsafe_code,
    reason = "the standard library allocates with the alignment of a type, and with none of its own"
)]

#[cfg(all(target_os = "linux", not(miri)))]
mod huge_pages;

use core::{
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use zerocopy::FromZeros;

/// A line of the cache: a vector of 64 bytes that starts at a multiple of it lies in one line, others in two.
const CACHE_LINE: usize = 64;
/// A huge page of x86-64, and of AArch64 with pages of 4 KiB.
const HUGE_PAGE: usize = 2 << 20;
/// From how many bytes on a value is worth huge pages.
const LARGE: usize = 2 * HUGE_PAGE;

/// A zeroed value on the heap that never passes over the stack, however large it is.
///
/// ```
/// use constformer::{Bert, Encoder, boxed};
///
/// let model = boxed::<Encoder<Bert, 6, 384, 1536, 12>>(); // 42 MB
/// assert_eq!(model.blocks[5].attention.query.bias, [0.0; 384]);
/// ```
#[must_use]
pub fn boxed<T: FromZeros>() -> Boxed<T> {
    Boxed::zeroed()
}

/// A `T` on the heap, as in a [`Box`](std::boxed::Box), but where vectors and the processor's table of pages like it.
///
/// It starts at a multiple of 64 bytes, a line of the cache. One of 4 MiB or more takes whole pages of 2 MiB, and on Linux
/// they are asked for before the memory is touched (`MADV_HUGEPAGE`). Models and working memories are made by [`boxed`].
///
/// Whether it gets huge pages is up to the system: not if `/sys/kernel/mm/transparent_hugepage/enabled` is `never`, not in a
/// process (or a child of one) that has switched them off with `prctl(PR_SET_THP_DISABLE)`, which `THP_enabled` in
/// `/proc/self/status` tells, and not if there is no memory in one piece, or the allocator hands out memory that was in use
/// before. `AnonHugePages` in `/proc/self/smaps` is what it got.
///
/// ```
/// use constformer::{Boxed, Encoder, Memory, Vit, Working, boxed};
///
/// type Model = Encoder<Vit, 2, 32, 96, 4>;
///
/// let mut memory: Boxed<Memory<Model, 17>> = boxed();
/// assert_eq!((&raw const *memory).addr() % 64, 0);
/// let Working { stream, .. } = &mut *memory;
/// stream.push(&[1.0; 32])?;
/// let model: &'static Model = Boxed::leak(boxed());
/// # Ok::<(), constformer::TooLong>(())
/// ```
pub struct Boxed<T> {
    room: Room<T>,
    owned: PhantomData<T>,
}

impl<T: FromZeros> Boxed<T> {
    fn zeroed() -> Self {
        let room = Room::<T>::new();
        #[cfg(all(target_os = "linux", not(miri)))]
        if size_of::<T>() >= LARGE {
            huge_pages::advise(room.0.cast(), Room::<T>::LAYOUT.size());
        }
        // SAFETY: the room is for a `T`, is ours alone, and a `FromZeros` is one when all of its bytes are zeros.
        unsafe { room.0.write_bytes(0, 1) };
        Self { room, owned: PhantomData }
    }
}

impl<T> Boxed<T> {
    /// The value for as long as the program runs: it is never freed.
    #[must_use]
    pub fn leak<'a>(value: Self) -> &'a mut T
    where
        T: 'a,
    {
        let mut pointer = ManuallyDrop::new(value).room.0;
        // SAFETY: it points to a `T`, see `deref`, which nobody else can reach any more, and which is never freed.
        unsafe { pointer.as_mut() }
    }
}

impl<T> Deref for Boxed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the room is aligned for a `T` and holds one from `zeroed` until it is dropped; it is ours, so whoever has a
        // reference to `self` may have one to the value.
        unsafe { self.room.0.as_ref() }
    }
}

impl<T> DerefMut for Boxed<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; and nobody else has a reference to `self`.
        unsafe { self.room.0.as_mut() }
    }
}

impl<T> Drop for Boxed<T> {
    fn drop(&mut self) {
        // SAFETY: the value is there, see `deref`, and is not used after this. Its room is given back after this, also if this panics.
        unsafe { self.room.0.drop_in_place() };
    }
}

// SAFETY: it owns the value, as a `Box` does, and shares nothing.
unsafe impl<T: Send> Send for Boxed<T> {}
// SAFETY: what is done by a shared reference to it is done by one to the value.
unsafe impl<T: Sync> Sync for Boxed<T> {}

impl<T: fmt::Debug> fmt::Debug for Boxed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Memory for a `T`, given back when it is dropped; whether there is a `T` in it is up to its owner.
struct Room<T>(NonNull<T>);

impl<T> Room<T> {
    /// At least one byte, since nothing can be allocated for none.
    const LAYOUT: Layout = {
        let least = if size_of::<T>() < LARGE { CACHE_LINE } else { HUGE_PAGE };
        let align = if least < align_of::<T>() { align_of::<T>() } else { least };
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        match Layout::from_size_align(size, align) {
            Ok(layout) => layout.pad_to_align(),
            Err(_) => panic!("the type is larger than any memory"),
        }
    };

    fn new() -> Self {
        // SAFETY: the layout is not of size 0.
        let start = unsafe { alloc(Self::LAYOUT) };
        match NonNull::new(start.cast()) {
            Some(start) => Self(start),
            None => handle_alloc_error(Self::LAYOUT),
        }
    }
}

impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with the same layout, and given back only here.
        unsafe { dealloc(self.0.as_ptr().cast(), Self::LAYOUT) };
    }
}
