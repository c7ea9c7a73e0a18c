//! Sums of products of integers with weights of 4 bits, by the DSP instructions of `dsp.rs`.
//!
//! A mask puts each weight in the highest of its 16 bits, SMLAD sums a group of 32, and SMLATB multiplies the sum with the factor of the group.

#![expect(unsafe_code, reason = "instructions that no intrinsic of stable Rust has")]

use crate::{
    integer4::{GROUP, get},
    number::Number,
    shape::Bytes,
};
use core::arch::asm;
use zerocopy::IntoBytes;

/// `T` tokens for weights of 4 bits: integers of -127 to 127 times a scale for each, times 16.
///
/// A weight stands in the highest of 16 bits, which makes it 4096 of it. So a sum of products is 65536 of it, and for the 32 products of a group,
/// of up to 8 times 127 each, its upper half is the sum itself: what SMLATB multiplies with the factor.
///
/// By eights of features, each in the order in which a mask takes pairs from a word of weights: (0, 4), (1, 5), (2, 6), (3, 7). Of each eight the
/// tokens one after the other. The features that are left over follow, token by token. Aligned as LDRD asks.
#[repr(C, align(4))]
pub(super) struct Int4Tokens<N: Number, const T: usize, const IN: usize> {
    integers: [[i16; IN]; T],
    pub(super) scales: [N::Factor; T],
}

impl<N: Number, const T: usize, const IN: usize> Int4Tokens<N, T, IN> {
    pub(super) const ZERO: Self = Self { integers: [[0; IN]; T], scales: [N::NOTHING; T] };

    #[inline(always)]
    pub(super) fn quantize(&mut self, x: &[[N; IN]; T]) {
        let (eights, rest) = self.integers.as_flattened_mut().split_at_mut(IN / 8 * 8 * T);
        let eights = eights.as_chunks_mut::<8>().0;
        for (token, x) in x.iter().enumerate() {
            let (scale, inverse) = N::scales::<127>(N::greatest_magnitude(x));
            if let Some(of_token) = self.scales.get_mut(token) {
                *of_token = scale;
            }
            let (x_eights, x_rest) = x.as_chunks::<8>();
            for (eight, [a, b, c, d, e, f, g, h]) in eights.iter_mut().skip(token).step_by(T).zip(x_eights) {
                *eight = [a, e, b, f, c, g, d, h].map(|x| x.nearest(inverse) << 4);
            }
            for (q, x) in rest.iter_mut().skip(token * x_rest.len()).zip(x_rest) {
                *q = x.nearest(inverse) << 4;
            }
        }
    }

    /// The sum of the products of the features that are left over.
    #[inline(always)]
    fn rest(&self, token: usize, factors: &[u8], w: &[u8]) -> i32 {
        let (eights, len) = (IN / 8 * 8, IN % 8);
        let x = self.integers.as_flattened().get(eights * T + token * len..).unwrap_or_default();
        let products = x
            .iter()
            .take(len)
            .zip(eights..)
            .map(|(x, column)| i32::from(*x >> 4) * i32::from(get(factors, w, column).unwrap_or_default()));
        super::sum(products)
    }
}

/// The pairs of weights that are alone in their 16 bits.
const HIGHEST_HALVES: u32 = 0xf000_f000;

/// Eight inputs, a row of weights, four tokens: the first of a group, or more.
macro_rules! int4_four_tokens {
    (first) => {
        int4_four_tokens!(
            "smuad {a}, {x0}, {w04}",
            "smuad {b}, {x0}, {w04}",
            "smuad {c}, {x0}, {w04}",
            "smuad {d}, {x0}, {w04}"
        )
    };
    (more) => {
        int4_four_tokens!(
            "smlad {a}, {x0}, {w04}, {a}",
            "smlad {b}, {x0}, {w04}, {b}",
            "smlad {c}, {x0}, {w04}, {c}",
            "smlad {d}, {x0}, {w04}, {d}"
        )
    };
    ($a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "ldr {w8}, [{w}], #4
         and {w04}, {mask}, {w8}, lsl #12
         and {w15}, {mask}, {w8}, lsl #8
         ldrd {x0}, {x1}, [{x}, #16]
         ",
            $b,
            "
         smlad {b}, {x1}, {w15}, {b}
         ldrd {x0}, {x1}, [{x}, #32]
         ",
            $c,
            "
         smlad {c}, {x1}, {w15}, {c}
         ldrd {x0}, {x1}, [{x}, #48]
         ",
            $d,
            "
         smlad {d}, {x1}, {w15}, {d}
         ldrd {x0}, {x1}, [{x}], #8
         ",
            $a,
            "
         smlad {a}, {x1}, {w15}, {a}
         and {w04}, {mask}, {w8}, lsl #4
         and {w15}, {mask}, {w8}
         ldrd {x0}, {x1}, [{x}, #16]
         smlad {b}, {x0}, {w04}, {b}
         smlad {b}, {x1}, {w15}, {b}
         ldrd {x0}, {x1}, [{x}, #32]
         smlad {c}, {x0}, {w04}, {c}
         smlad {c}, {x1}, {w15}, {c}
         ldrd {x0}, {x1}, [{x}, #48]
         smlad {d}, {x0}, {w04}, {d}
         smlad {d}, {x1}, {w15}, {d}
         ldrd {x0}, {x1}, [{x}], #56
         smlad {a}, {x0}, {w04}, {a}
         smlad {a}, {x1}, {w15}, {a}"
        )
    };
}

/// Eight inputs, a token, two rows of weights: the first of a group, or more.
macro_rules! int4_two_rows {
    (first) => {
        int4_two_rows!("smuad {a}, {x0}, {pair}", "smuad {b}, {x0}, {pair}")
    };
    (more) => {
        int4_two_rows!("smlad {a}, {x0}, {pair}, {a}", "smlad {b}, {x0}, {pair}, {b}")
    };
    ($a:literal, $b:literal) => {
        concat!(
            "ldr {v8}, [{w}, #{row}]
         ldr {w8}, [{w}], #4
         ldrd {x0}, {x1}, [{x}], #8
         and {pair}, {mask}, {w8}, lsl #12
         ",
            $a,
            "
         and {pair}, {mask}, {v8}, lsl #12
         ",
            $b,
            "
         and {pair}, {mask}, {w8}, lsl #8
         smlad {a}, {x1}, {pair}, {a}
         and {pair}, {mask}, {v8}, lsl #8
         smlad {b}, {x1}, {pair}, {b}
         ldrd {x0}, {x1}, [{x}], #8
         and {pair}, {mask}, {w8}, lsl #4
         smlad {a}, {x0}, {pair}, {a}
         and {pair}, {mask}, {v8}, lsl #4
         smlad {b}, {x0}, {pair}, {b}
         and {pair}, {mask}, {w8}
         smlad {a}, {x1}, {pair}, {a}
         and {pair}, {mask}, {v8}
         smlad {b}, {x1}, {pair}, {b}"
        )
    };
}

/// The products of four tokens with four bytes of weights, 65536 times.
#[inline(always)]
fn int4_four_by_eight(x: &[i16; 32], w: &[u8; 4]) -> [i32; 4] {
    let (a, b, c, d): (i32, i32, i32, i32);
    // SAFETY: it reads 4 bytes of w, at any address as LDR may, and 4 tokens of 8 integers of x, which lie in `Int4Tokens` after a multiple of 32
    // integers, so that their address is a multiple of 4. It writes nothing but the registers named here, and the flags.
    unsafe {
        asm!(int4_four_tokens!(first),
            x = inout(reg) x.as_ptr() => _, w = inout(reg) w.as_ptr() => _, mask = in(reg) HIGHEST_HALVES,
            a = out(reg) a, b = out(reg) b, c = out(reg) c, d = out(reg) d,
            x0 = out(reg) _, x1 = out(reg) _, w04 = out(reg) _, w15 = out(reg) _, w8 = out(reg) _,
            options(nostack, readonly));
    }
    [a, b, c, d]
}

/// How far a second row is from the first: nothing, if there is none.
const fn int4_row(inputs: usize, two: bool) -> usize {
    if two { inputs.div_ceil(2) } else { 0 }
}

/// The products of a token with four bytes of weights of one row, twice, or of two, 65536 times.
#[inline(always)]
fn int4_two_by_eight<const IN: usize, const TWO: bool>(x: &[i16; 8], w: &[u8]) -> [i32; 2] {
    let (mut a, mut b) = (0i32, 0i32);
    if w.len() >= int4_row(IN, TWO) + 4 {
        // SAFETY: it reads the first 4 bytes of w and those from a row on, at any address as LDR may, and 8 integers of x, which lie in `Int4Tokens`
        // after a multiple of 8 integers, so that their address is a multiple of 4. It writes nothing but the registers named here, and the
        // flags.
        unsafe {
            asm!(int4_two_rows!(first), row = const int4_row(IN, TWO),
                x = inout(reg) x.as_ptr() => _, w = inout(reg) w.as_ptr() => _, mask = in(reg) HIGHEST_HALVES,
                a = out(reg) a, b = out(reg) b,
                x0 = out(reg) _, x1 = out(reg) _, pair = out(reg) _, w8 = out(reg) _, v8 = out(reg) _,
                options(nostack, readonly));
        }
    }
    [a, b]
}

/// The words of a row that are no whole group.
#[inline(always)]
fn after_groups<const IN: usize>(w: &[u8]) -> &[[u8; 4]] {
    w.get(IN / GROUP * 16..).unwrap_or_default().as_chunks().0
}

/// The products of four tokens with a row of w: factors and integers.
#[inline(always)]
pub(super) fn int4_four_by_one<N: Number, const IN: usize>(
    x: &Int4Tokens<N, 4, IN>,
    factors: &[u8],
    w: &[u8],
) -> [i32; 4] {
    let (mut a, mut b, mut c, mut d) = (0i32, 0i32, 0i32, 0i32);
    if IN >= GROUP && factors.len() >= IN / GROUP && w.len() >= IN / 2 {
        // SAFETY: the loop runs IN / 32 times, at least once. It reads a factor, 4 words of w, at any address as LDR may, and 4 tokens of 32 integers
        // of x, whose address is a multiple of 4: within the factors, the IN / 2 bytes of w and the 8 IN of x. It writes nothing but the
        // registers named here, the flags, and 24 bytes that it puts on the stack and takes from there again, as there are no more registers:
        // where factors are, the end of x, and the sums.
        unsafe {
            asm!(
                "strd {w04}, {w15}, [sp, #-24]!
                 mov {x0}, #0
                 strd {x0}, {x0}, [sp, #8]
                 strd {x0}, {x0}, [sp, #16]
                 2:",
                int4_four_tokens!(first), int4_four_tokens!(more), int4_four_tokens!(more), int4_four_tokens!(more),
                "ldrd {w04}, {w15}, [sp]
                 ldrb {w8}, [{w04}], #1
                 str {w04}, [sp]
                 ldrd {x0}, {x1}, [sp, #8]
                 smlatb {x0}, {a}, {w8}, {x0}
                 smlatb {x1}, {b}, {w8}, {x1}
                 strd {x0}, {x1}, [sp, #8]
                 ldrd {x0}, {x1}, [sp, #16]
                 smlatb {x0}, {c}, {w8}, {x0}
                 smlatb {x1}, {d}, {w8}, {x1}
                 strd {x0}, {x1}, [sp, #16]
                 cmp {x}, {w15}
                 bne 2b
                 ldrd {a}, {b}, [sp, #8]
                 ldrd {c}, {d}, [sp, #16]
                 add sp, sp, #24",
                x = inout(reg) x.integers.as_ptr() => _,
                w = inout(reg) w.as_ptr() => _,
                w04 = inout(reg) factors.as_ptr() => _,
                w15 = inout(reg) x.integers.as_ptr().cast::<i16>().add(IN / GROUP * GROUP * 4) => _,
                mask = in(reg) HIGHEST_HALVES,
                a = out(reg) a, b = out(reg) b, c = out(reg) c, d = out(reg) d,
                x0 = out(reg) _, x1 = out(reg) _, w8 = out(reg) _,
                options(readonly));
        }
    }
    let mut sums = [a, b, c, d];
    if const { !IN.is_multiple_of(GROUP) } {
        let factor = factors.last().copied().map_or(0, i32::from);
        let (_, eights) = x.integers.as_flattened().split_at(IN / GROUP * GROUP * 4);
        for (x, w) in eights.as_chunks::<32>().0.iter().zip(after_groups::<IN>(w)).take(IN % GROUP / 8) {
            for (sum, eight) in sums.iter_mut().zip(int4_four_by_eight(x, w)) {
                *sum = sum.wrapping_add((eight >> 16) * factor);
            }
        }
        for (token, sum) in sums.iter_mut().enumerate() {
            *sum = sum.wrapping_add(x.rest(token, factors, w));
        }
    }
    sums
}

/// The product of a token with a row of w.
#[inline(always)]
pub(super) fn int4_one_by_one<N: Number, const IN: usize>(x: &Int4Tokens<N, 1, IN>, factors: &[u8], w: &[u8]) -> i32 {
    int4_rows::<N, IN, false>(x, factors, w)[0]
}

/// The products of a token with two rows of w.
#[inline(always)]
pub(super) fn int4_one_by_two<N: Number, F: Bytes, I: Bytes, const IN: usize>(
    x: &Int4Tokens<N, 1, IN>,
    factors: &[F; 2],
    w: &[I; 2],
) -> [i32; 2] {
    if const { IN > 8190 } {
        // The second row is out of an LDR's reach.
        let ([f0, f1], [w0, w1]) = (factors, w);
        return [(f0, w0), (f1, w1)].map(|(f, w)| int4_one_by_one(x, f.as_bytes(), w.as_bytes()));
    }
    int4_rows::<N, IN, true>(x, factors.as_bytes(), w.as_bytes())
}

/// The products of a token with one row of w, twice, or with two.
#[inline(always)]
fn int4_rows<N: Number, const IN: usize, const TWO: bool>(
    x: &Int4Tokens<N, 1, IN>,
    factors: &[u8],
    w: &[u8],
) -> [i32; 2] {
    let (mut a, mut b) = (0i32, 0i32);
    let (groups, row) = (const { if TWO { IN.div_ceil(GROUP) } else { 0 } }, const { int4_row(IN, TWO) });
    if IN >= GROUP && factors.len() >= groups + IN / GROUP && w.len() >= row + IN / 2 {
        // SAFETY: the loop runs IN / 32 times, at least once. It reads a factor and 4 words of weights of each row, at any address as LDR may, and
        // 32 integers of x, whose address is a multiple of 4: within the factors and the IN / 2 bytes of each row of w, and the 2 IN of x.
        // It writes nothing but the registers named here, the flags, and 8 bytes that it puts on the stack and takes from there again, as there
        // are no more registers: the sums.
        unsafe {
            asm!(
                "mov {x0}, #0
                 strd {x0}, {x0}, [sp, #-8]!
                 2:",
                int4_two_rows!(first), int4_two_rows!(more), int4_two_rows!(more), int4_two_rows!(more),
                "ldrb {v8}, [{f}, #{groups}]
                 ldrb {w8}, [{f}], #1
                 ldrd {x0}, {x1}, [sp]
                 smlatb {x0}, {a}, {w8}, {x0}
                 smlatb {x1}, {b}, {v8}, {x1}
                 strd {x0}, {x1}, [sp]
                 cmp {x}, {end}
                 bne 2b
                 ldrd {a}, {b}, [sp], #8",
                row = const int4_row(IN, TWO),
                groups = const if TWO { IN.div_ceil(GROUP) } else { 0 },
                x = inout(reg) x.integers.as_ptr() => _,
                w = inout(reg) w.as_ptr() => _,
                f = inout(reg) factors.as_ptr() => _,
                end = in(reg) x.integers.as_ptr().cast::<i16>().add(IN / GROUP * GROUP),
                mask = in(reg) HIGHEST_HALVES,
                a = out(reg) a, b = out(reg) b,
                x0 = out(reg) _, x1 = out(reg) _, pair = out(reg) _, w8 = out(reg) _, v8 = out(reg) _,
                options(readonly));
        }
    }
    if const { !IN.is_multiple_of(GROUP) } {
        let of_last = [0, groups].map(|row| factors.get(row + IN / GROUP).copied().map_or(0, i32::from));
        let (_, eights) = x.integers.as_flattened().split_at(IN / GROUP * GROUP);
        for (x, eight) in eights.as_chunks::<8>().0.iter().zip(IN / GROUP * 4..).take(IN % GROUP / 8) {
            let sums = int4_two_by_eight::<IN, TWO>(x, w.get(eight * 4..).unwrap_or_default());
            (a, b) = (a + (sums[0] >> 16) * of_last[0], b + (sums[1] >> 16) * of_last[1]);
        }
        let of_second = (factors.get(groups..).unwrap_or_default(), w.get(row..).unwrap_or_default());
        (a, b) = (a + x.rest(0, factors, w), b + x.rest(0, of_second.0, of_second.1));
    }
    [a, b]
}
