//! How deep the stack gets in a forward pass of KWT-1's shape, whose `D_FF` is 256: in `f32`, all of 8 bits, and in integers alone.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Format, Int8, Int8Cache, Int8Stream, IntegerOnly, Zero};
use core::hint::black_box;
use firmware::models::{Kws, KwsInput, KwsMemory};
use static_cell::ConstStaticCell;

firmware::program!(run);

type Small = Int8Stream<Int8Cache<Int8>>;
type Integers = Int8Stream<IntegerOnly<Int8>>;

/// One layer: those of a stack come one after the other.
static KWS: Kws<1> = Zero::ZERO;
static KWS_SMALL: Kws<1, Small> = Zero::ZERO;
static KWS_INTEGERS: Kws<1, Integers> = Zero::ZERO;
static MEMORY: ConstStaticCell<KwsMemory> = ConstStaticCell::new(Zero::ZERO);
static MEMORY_SMALL: ConstStaticCell<KwsMemory<Small>> = ConstStaticCell::new(Zero::ZERO);
static MEMORY_INTEGERS: ConstStaticCell<KwsMemory<Integers>> = ConstStaticCell::new(Zero::ZERO);
static INPUT: KwsInput = [[0.0; 40]; 98];

fn run() -> bool {
    let (Some(memory), Some(memory_small)) = (MEMORY.try_take(), MEMORY_SMALL.try_take()) else { return false };
    let Some(memory_integers) = MEMORY_INTEGERS.try_take() else { return false };
    used("stack.used", || forward(&KWS, memory))
        && used("stack.small.used", || forward(&KWS_SMALL, memory_small))
        && used("stack.integers.used", || forward(&KWS_INTEGERS, memory_integers))
}

/// Reports how many bytes `f` has used, where that can be told.
fn used(name: &str, f: impl FnOnce() -> bool) -> bool {
    #[cfg(target_os = "none")]
    let painted = firmware::board::stack::paint();
    let well = f();
    #[cfg(target_os = "none")]
    let bytes = painted.used() as u32;
    #[cfg(not(target_os = "none"))]
    let bytes = 0;
    firmware::report::number(name, bytes);
    well
}

/// What the analysis of frames begins with.
#[inline(never)]
fn forward<T: Format>(kws: &Kws<1, T>, memory: &mut KwsMemory<T>) -> bool {
    black_box(kws).forward(&INPUT, memory).is_ok()
}
