//! What the targets share: small models, and a watch on allocations.

pub mod checkpoint;

use constformer::{Boxed, Parameters, boxed, load::LoadError};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

// libFuzzer's own limit, -malloc_limit_mb, needs a sanitizer; and it would be one for all lengths.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `f` and panics if it allocates more than `bytes`, all in all.
fn watched<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    let region = Region::new(ALLOCATOR);
    let result = f();
    let found = region.change().bytes_allocated;
    assert!(found <= bytes, "{bytes} bytes allocated at most expected, found {found}");
    result
}

/// Runs what reads `len` bytes and may allocate what they justify: 128 bytes each, and 64 KiB for what a model's own tensors are
/// called. The header of a safetensors file has 50 bytes a tensor at least, a llama2.c checkpoint 4; of a tensor, a name or two, a
/// shape and an error are kept.
pub fn frugal<R>(len: usize, f: impl FnOnce() -> R) -> R {
    watched(128 * len + (64 << 10), f)
}

/// Runs what needs no heap.
pub fn heapless<R>(f: impl FnOnce() -> R) -> R {
    watched(0, f)
}

/// The numbers of a model, as bits.
pub fn bits(model: &impl Parameters) -> Vec<u32> {
    let mut bits = vec![];
    model.for_each_tensor(|_, tensor| bits.extend(tensor.stored().iter().map(|x| x.to_bits())));
    bits
}

/// Loads a model that is full of 7s, and checks what is true of any file: an error has a text and leaves the model as it was;
/// otherwise its numbers are finite.
pub fn load<M: Parameters>(
    len: usize,
    load: impl FnOnce(&mut M) -> Result<(), LoadError>,
) -> Result<Boxed<M>, LoadError> {
    let mut model = boxed::<M>();
    model.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill(7.0));
    let result = frugal(len, || load(&mut model));
    match result {
        Ok(()) => {
            assert!(bits(&*model).iter().all(|x| f32::from_bits(*x).is_finite()), "a number that is none");
            Ok(model)
        }
        Err(error) => {
            assert!(bits(&*model).iter().all(|x| *x == 7f32.to_bits()), "half loaded: {error}");
            assert!(!error.to_string().is_empty());
            Err(error)
        }
    }
}
