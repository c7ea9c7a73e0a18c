//! Portable Rust.

use super::{Lanes, Machine, of_machines};

/// Four lanes, written out so that no optimiser has to unroll them: four by four numbers fill the registers of a
/// Cortex-M4F, and on a host a vector is one SSE, NEON or WebAssembly register.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// One lane, for a function of one number.
#[derive(Clone, Copy, Debug)]
pub struct Single;

#[inline(always)]
fn power_of_two(n: f32) -> f32 {
    f32::from_bits((n.to_bits() << 23).wrapping_add(1f32.to_bits()))
}

macro_rules! lanes {
    ($($name:ident($($a:ident),*) = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, $($a: [f32; 4]),*) -> [f32; 4] {
            [
                { $(let $a = $a[0];)* $f },
                { $(let $a = $a[1];)* $f },
                { $(let $a = $a[2];)* $f },
                { $(let $a = $a[3];)* $f },
            ]
        }
    )* };
}

impl Lanes for Plain {
    type Number = f32;
    type Vector = [f32; 4];
    const LANES: usize = 4;

    of_machines!();

    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 4] {
        [x, x, x, x] // `[x; 4]` would be a loop where code is to be small
    }

    #[inline(always)]
    fn load(self, x: &[f32]) -> [f32; 4] {
        x.first_chunk().copied().unwrap_or_else(|| {
            let mut vector = [0.0; 4];
            vector.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
            vector
        })
    }

    #[inline(always)]
    fn store(self, x: [f32; 4], out: &mut [f32]) {
        match out.first_chunk_mut() {
            Some(out) => *out = x,
            None => out.iter_mut().zip(x).for_each(|(to, from)| *to = from),
        }
    }

    lanes! {
        add(a, b) = a + b;
        mul(a, b) = a * b;
    }
}

impl Machine for Plain {
    const ROWS: usize = 4;
    // Two vectors in a row would spill on a microcontroller: 2.6 instructions a product instead of 1.7.
    const VECTORS: usize = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
    const DIVIDES: bool = true;

    lanes! {
        sub(a, b) = a - b;
        div(a, b) = a / b;
        abs(a) = a.abs();
        min(a, b) = if a < b { a } else { b };
        max(a, b) = if a > b { a } else { b };
        mul_add(a, b, c) = a * b + c;
        zero_below(x, bound, y) = if x < bound { 0.0 } else { y };
        power_of_two(n) = power_of_two(n);
    }

    #[inline(always)]
    fn sum_lanes(self, [a, b, c, d]: [f32; 4]) -> f32 {
        (a + c) + (b + d)
    }

    #[inline(always)]
    fn max_lanes(self, [a, b, c, d]: [f32; 4]) -> f32 {
        Single.max(Single.max(a, b), Single.max(c, d))
    }
}

macro_rules! lane {
    ($($name:ident($($a:ident),*) = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, $($a: f32),*) -> f32 {
            $f
        }
    )* };
}

impl Lanes for Single {
    type Number = f32;
    type Vector = f32;
    const LANES: usize = 1;

    of_machines!();

    #[inline(always)]
    fn load(self, x: &[f32]) -> f32 {
        x.first().copied().unwrap_or(0.0)
    }

    #[inline(always)]
    fn store(self, x: f32, out: &mut [f32]) {
        if let Some(out) = out.first_mut() {
            *out = x;
        }
    }

    lane! {
        splat(x) = x;
        add(a, b) = a + b;
        mul(a, b) = a * b;
    }
}

impl Machine for Single {
    const ROWS: usize = 4;
    const VECTORS: usize = 1;
    const DIVIDES: bool = true;

    lane! {
        sub(a, b) = a - b;
        div(a, b) = a / b;
        abs(a) = a.abs();
        min(a, b) = if a < b { a } else { b };
        max(a, b) = if a > b { a } else { b };
        mul_add(a, b, c) = a * b + c;
        zero_below(x, bound, y) = if x < bound { 0.0 } else { y };
        power_of_two(n) = power_of_two(n);
        sum_lanes(a) = a;
        max_lanes(a) = a;
    }
}
