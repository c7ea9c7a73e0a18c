//! Alignment, zeros and what is given back. Small enough for Miri, which `tests/downstream/tests/miri.rs` has it run by.

use constformer::{Boxed, boxed, zerocopy::FromZeros};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
    thread,
};

const CACHE_LINE: usize = 64;
const HUGE_PAGE: usize = 2 << 20;
/// From so many bytes on, huge pages are asked for.
const LARGE: usize = 2 * HUGE_PAGE;

fn address<T>(value: &T) -> usize {
    (&raw const *value).addr()
}

#[test]
fn all_sizes_are_aligned_and_zeroed() {
    fn check<T: FromZeros>(alignment: usize) -> Boxed<T> {
        let value = boxed::<T>();
        assert_eq!(address(&*value) % alignment, 0);
        value
    }
    assert!(check::<[f32; 0]>(CACHE_LINE).is_empty());
    assert_eq!(*check::<u8>(CACHE_LINE), 0);
    let several: [Boxed<[f32; 17]>; 5] = std::array::from_fn(|_| check(CACHE_LINE));
    assert!(several.iter().all(|value| **value == [0.0; 17]));
    let almost = check::<[u8; LARGE - 1]>(CACHE_LINE);
    let large = check::<[u8; LARGE + 1]>(HUGE_PAGE);
    assert!(almost.iter().chain(large.iter()).step_by(4095).all(|byte| *byte == 0));
    assert!(almost[LARGE - 2] == 0 && large[LARGE] == 0);
}

/// An alignment of the type's own is kept if it is larger.
#[test]
fn alignment_of_the_type() {
    #[derive(FromZeros)]
    #[zerocopy(crate = "constformer::zerocopy")]
    #[repr(C, align(256))]
    struct Aligned(u8);
    let values: [Boxed<Aligned>; 3] = std::array::from_fn(|_| boxed());
    assert!(values.iter().all(|value| address(&**value) % 256 == 0 && value.0 == 0));
}

#[test]
fn it_is_the_value_that_is_seen_and_changed() {
    let mut value = boxed::<[u32; 3]>();
    let [_, second, _] = &mut *value;
    *second = 7;
    assert_eq!(format!("{value:?}"), "[0, 7, 0]");
    let value = thread::spawn(move || value).join().unwrap();
    thread::scope(|scope| scope.spawn(|| assert_eq!(*value, [0, 7, 0])).join().unwrap());
}

/// A longer life is one of a shorter, as for `Box`: this compiles.
#[test]
fn covariant() {
    fn shorter<'a>(long: Boxed<Option<&'static u8>>, _: &'a u8) -> Boxed<Option<&'a u8>> {
        long
    }
    assert!(shorter(boxed(), &1).is_none());
}

#[derive(FromZeros)]
#[zerocopy(crate = "constformer::zerocopy")]
struct Counted<'a> {
    drops: Option<&'a Cell<u32>>,
    panics: bool,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops.inspect(|drops| drops.set(drops.get() + 1));
        assert!(!self.panics, "as it was told to");
    }
}

/// Once, and its memory is given back, also if it panics: Miri would find what is left.
#[test]
fn the_value_is_dropped_once() {
    let drops = Cell::new(0);
    let mut value = boxed::<Counted>();
    value.drops = Some(&drops);
    drop(value);
    assert_eq!(drops.get(), 1);

    let mut value = boxed::<Counted>();
    (value.drops, value.panics) = (Some(&drops), true);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(value))).is_err());
    assert_eq!(drops.get(), 2);
}

#[test]
fn what_is_leaked_stays() {
    static LEAKED: OnceLock<&[u32; 3]> = OnceLock::new();
    let mut value = boxed::<[u32; 3]>();
    value[1] = 7;
    assert_eq!(*LEAKED.get_or_init(|| Boxed::leak(value)), &[0, 7, 0]);
}
