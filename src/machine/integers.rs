//! Fixed-point numbers.

use super::Lanes;
use crate::{
    activation::Activation,
    math::fixed,
    number::{Factor, Number},
};

/// Four fixed-point numbers at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integers;

impl Lanes for Integers {
    type Number = i32;
    type Vector = [i32; 4];
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(self, x: i32) -> [i32; 4] {
        [x; 4]
    }

    #[inline(always)]
    fn load(self, x: &[i32]) -> [i32; 4] {
        x.first_chunk().copied().unwrap_or_else(|| {
            let mut vector = [0; 4];
            vector.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
            vector
        })
    }

    #[inline(always)]
    fn store(self, x: [i32; 4], out: &mut [i32]) {
        match out.first_chunk_mut() {
            Some(out) => *out = x,
            None => out.iter_mut().zip(x).for_each(|(to, from)| *to = from),
        }
    }

    #[inline(always)]
    fn add(self, [a, b, c, d]: [i32; 4], [e, f, g, h]: [i32; 4]) -> [i32; 4] {
        [a.saturating_add(e), b.saturating_add(f), c.saturating_add(g), d.saturating_add(h)]
    }

    #[inline(always)]
    fn mul(self, [a, b, c, d]: [i32; 4], [e, f, g, h]: [i32; 4]) -> [i32; 4] {
        [fixed::multiply(a, e), fixed::multiply(b, f), fixed::multiply(c, g), fixed::multiply(d, h)]
    }

    #[inline(always)]
    fn load_parameters(self, x: &[f32]) -> [i32; 4] {
        let mut vector = [0; 4];
        vector.iter_mut().zip(x).for_each(|(to, from)| *to = fixed::from_f32(*from));
        vector
    }

    #[inline(always)]
    fn store_f32(self, x: [i32; 4], out: &mut [f32]) {
        out.iter_mut().zip(x).for_each(|(to, from)| *to = fixed::to_f32(from));
    }

    #[inline(always)]
    fn activate<A: Activation>(self, x: [i32; 4]) -> [i32; 4] {
        x.map(A::apply_fixed)
    }

    fn softmax_row(self, x: &mut [i32], scale: f32) -> Factor {
        <i32 as Number>::softmax_row(self, x, scale)
    }
}
