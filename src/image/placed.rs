//! Where a model that is part of a program lies.

/// A model that starts at a line of the cache on a host; on a microcontroller, that would be flash for nothing.
#[derive(Debug)]
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(64)))]
pub struct Placed<M>(pub M);
