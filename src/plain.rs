//! Plain data: what can lie in flash, and what can be a `static` of zeros.

use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Plain old data: any bytes of the right length and alignment are a value of the type.
///
/// Models are plain, so a `&'static Model` comes from the bytes of a file without a copy and without `unsafe` code.
pub trait Plain: FromBytes + Immutable + KnownLayout + Send + Sync + 'static {}

impl<T: FromBytes + Immutable + KnownLayout + Send + Sync + 'static> Plain for T {}

/// The value that is all zeros, known at compile time.
///
/// A mutable `static` that starts as `ZERO` takes no flash (it lies in `.bss`) and never passes over the stack. Working
/// memory, models to be filled, gradients and moments of an optimizer start this way.
pub trait Zero {
    /// All zeros.
    const ZERO: Self;
}

impl Zero for f32 {
    const ZERO: Self = 0.0;
}

impl Zero for i32 {
    const ZERO: Self = 0;
}

impl Zero for u8 {
    const ZERO: Self = 0;
}

impl<T: Zero, const N: usize> Zero for [T; N] {
    const ZERO: Self = [T::ZERO; N];
}

/// Two scratches, such as those of a block's sub-layers.
impl<A: Zero, B: Zero> Zero for (A, B) {
    const ZERO: Self = (A::ZERO, B::ZERO);
}

impl<T: ?Sized> Zero for PhantomData<T> {
    const ZERO: Self = PhantomData;
}
