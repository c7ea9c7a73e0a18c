//! Sums of integer products with the DSP instructions of a Cortex-M4, M7 or M33: SMLAD multiplies and adds two pairs of 16 bits at once.
//!
//! The compiler does not find it, and a statement for each instruction leaves it to schedule what it cannot see; so the loop over the
//! inputs is one statement. SXTB16 makes pairs of every second byte, of a word of weights w₀ w₁ w₂ w₃ the pairs (w₀, w₂) and (w₁, w₃), and tokens
//! are stored as such pairs when they are quantised, which costs nothing.

#![expect(unsafe_code, reason = "instructions that no intrinsic of stable Rust has")]

use super::Row;
use crate::number::Number;
use core::arch::asm;

/// `T` tokens as integers of -127 to 127 times a scale for each.
///
/// By fours of features, and of each four the tokens one after the other, as the loops read them. The features that are left over follow,
/// token by token. Aligned as LDRD asks.
#[repr(C, align(4))]
pub(super) struct Tokens<N: Number, const T: usize, const IN: usize> {
    integers: [[i16; IN]; T],
    pub(super) scales: [N::Factor; T],
}

impl<N: Number, const T: usize, const IN: usize> Tokens<N, T, IN> {
    pub(super) const ZERO: Self = Self { integers: [[0; IN]; T], scales: [N::NOTHING; T] };

    #[inline(always)]
    pub(super) fn quantize(&mut self, x: &[[N; IN]; T]) {
        let (fours, rest) = self.integers.as_flattened_mut().split_at_mut(IN / 4 * 4 * T);
        let fours = fours.as_chunks_mut::<4>().0;
        for (token, x) in x.iter().enumerate() {
            let (scale, inverse) = N::scales::<127>(N::greatest_magnitude(x));
            if let Some(of_token) = self.scales.get_mut(token) {
                *of_token = scale;
            }
            let (x_fours, x_rest) = x.as_chunks::<4>();
            for (four, [a, b, c, d]) in fours.iter_mut().skip(token).step_by(T).zip(x_fours) {
                *four = [a, c, b, d].map(|x| x.nearest(inverse));
            }
            for (q, x) in rest.iter_mut().skip(token * x_rest.len()).zip(x_rest) {
                *q = x.nearest(inverse);
            }
        }
    }

    /// The sum of the products of the features that are left over.
    #[inline(always)]
    fn rest(&self, token: usize, w: &[i8; IN]) -> i32 {
        let (first, w) = (IN / 4 * 4 * T, w.as_chunks::<4>().1);
        let x = self.integers.as_flattened().get(first + token * w.len()..).unwrap_or_default();
        super::sum(x.iter().zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)))
    }
}

// Macros and not `.rept`: LLVM measures inline assembly by its lines, and would place constants out of reach.

/// Four inputs, a row of weights, four tokens.
macro_rules! four_tokens {
    () => {
        "ldr {w4}, [{w}], #4
         sxtb16 {even}, {w4}
         sxtb16 {odd}, {w4}, ror #8
         ldrd {x02}, {x13}, [{x}, #8]
         smlad {b}, {x02}, {even}, {b}
         smlad {b}, {x13}, {odd}, {b}
         ldrd {x02}, {x13}, [{x}, #16]
         smlad {c}, {x02}, {even}, {c}
         smlad {c}, {x13}, {odd}, {c}
         ldrd {x02}, {x13}, [{x}, #24]
         smlad {d}, {x02}, {even}, {d}
         smlad {d}, {x13}, {odd}, {d}
         ldrd {x02}, {x13}, [{x}], #32
         smlad {a}, {x02}, {even}, {a}
         smlad {a}, {x13}, {odd}, {a}"
    };
}

/// Four inputs, a token, four rows of weights.
macro_rules! four_rows {
    () => {
        "ldrd {x02}, {x13}, [{x}], #8
         ldr {w4}, [{w}, #{row1}]
         sxtb16 {even}, {w4}
         smlad {b}, {x02}, {even}, {b}
         sxtb16 {even}, {w4}, ror #8
         smlad {b}, {x13}, {even}, {b}
         ldr {w4}, [{w}, #{row2}]
         sxtb16 {even}, {w4}
         smlad {c}, {x02}, {even}, {c}
         sxtb16 {even}, {w4}, ror #8
         smlad {c}, {x13}, {even}, {c}
         ldr {w4}, [{w}, #{row3}]
         sxtb16 {even}, {w4}
         smlad {d}, {x02}, {even}, {d}
         sxtb16 {even}, {w4}, ror #8
         smlad {d}, {x13}, {even}, {d}
         ldr {w4}, [{w}], #4
         sxtb16 {even}, {w4}
         smlad {a}, {x02}, {even}, {a}
         sxtb16 {even}, {w4}, ror #8
         smlad {a}, {x13}, {even}, {a}"
    };
}

/// Four inputs, a token, a row of weights.
macro_rules! one_row {
    () => {
        "ldrd {x02}, {x13}, [{x}], #8
         ldr {w4}, [{w}], #4
         sxtb16 {even}, {w4}
         smlad {a}, {x02}, {even}, {a}
         sxtb16 {even}, {w4}, ror #8
         smlad {a}, {x13}, {even}, {a}"
    };
}

/// The loop over `IN / 4` fours of inputs, as many of them in a round as divide their number.
macro_rules! by_fours {
    ($IN:ident, $four:ident, $body:ident) => {
        if const { $IN / 4 % 4 == 0 } {
            $body!($four!(), $four!(), $four!(), $four!())
        } else if const { $IN / 4 % 2 == 0 } {
            $body!($four!(), $four!())
        } else {
            $body!($four!())
        }
    };
}

/// The products of four tokens with a row of w.
#[inline(always)]
pub(super) fn four_by_one<N: Number, const IN: usize>(x: &Tokens<N, 4, IN>, w: &[i8; IN]) -> [i32; 4] {
    let (mut a, mut b, mut c, mut d) = (0i32, 0i32, 0i32, 0i32);
    if const { IN >= 4 } {
        macro_rules! body {
            ($($four:expr),*) => {
                // SAFETY: the loop runs IN / 4 times a round's fours, at least once. Each four reads 4 bytes of w, at any address as LDR may,
                // and 4 tokens of 4 integers of x, whose address is a multiple of 4: within the IN bytes of w and the 8 IN of x. It
                // writes nothing but the registers named here, and the flags.
                unsafe {
                    asm!("2:", $($four,)* "cmp {w}, {end}", "bne 2b",
                        x = inout(reg) x.integers.as_ptr() => _,
                        w = inout(reg) w.as_ptr() => _,
                        end = in(reg) w.as_ptr().add(IN / 4 * 4),
                        a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
                        x02 = out(reg) _, x13 = out(reg) _, w4 = out(reg) _, even = out(reg) _, odd = out(reg) _,
                        options(nostack, readonly));
                }
            };
        }
        by_fours!(IN, four_tokens, body);
    }
    if const { !IN.is_multiple_of(4) } {
        (a, b, c, d) = (a + x.rest(0, w), b + x.rest(1, w), c + x.rest(2, w), d + x.rest(3, w));
    }
    [a, b, c, d]
}

/// The products of a token with four rows of w.
#[inline(always)]
pub(super) fn one_by_four<N: Number, const IN: usize>(x: &Tokens<N, 1, IN>, w: &[[i8; IN]; 4]) -> [i32; 4] {
    if const { 3 * IN > 4095 } {
        return w.each_ref().map(|w| one_by_one(x, w)); // the last row is out of an LDR's reach
    }
    let (mut a, mut b, mut c, mut d) = (0i32, 0i32, 0i32, 0i32);
    if const { IN >= 4 } {
        macro_rules! body {
            ($($four:expr),*) => {
                // SAFETY: the loop runs IN / 4 times a round's fours, at least once. Each four reads 4 bytes of each of the four rows of w, IN
                // bytes apart, at any address as LDR may, and 4 integers of x, whose address is a multiple of 4: within the 4 IN bytes of
                // w and the 2 IN of x. It writes nothing but the registers named here, and the flags.
                unsafe {
                    asm!("2:", $($four,)* "cmp {w}, {end}", "bne 2b",
                        row1 = const IN, row2 = const 2 * IN, row3 = const 3 * IN,
                        x = inout(reg) x.integers.as_ptr() => _,
                        w = inout(reg) w.as_ptr() => _,
                        end = in(reg) w.as_ptr().cast::<i8>().add(IN / 4 * 4),
                        a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
                        x02 = out(reg) _, x13 = out(reg) _, w4 = out(reg) _, even = out(reg) _,
                        options(nostack, readonly));
                }
            };
        }
        by_fours!(IN, four_rows, body);
    }
    if const { !IN.is_multiple_of(4) } {
        let [w0, w1, w2, w3] = w;
        (a, b, c, d) = (a + x.rest(0, w0), b + x.rest(0, w1), c + x.rest(0, w2), d + x.rest(0, w3));
    }
    [a, b, c, d]
}

/// The product of a token with a row of w.
#[inline(always)]
pub(super) fn one_by_one<N: Number, const IN: usize>(x: &Tokens<N, 1, IN>, w: &[i8; IN]) -> i32 {
    let mut a = 0i32;
    if const { IN >= 4 } {
        macro_rules! body {
            ($($four:expr),*) => {
                // SAFETY: the loop runs IN / 4 times a round's fours, at least once. Each four reads 4 bytes of w, at any address as LDR may,
                // and 4 integers of x, whose address is a multiple of 4: within the IN bytes of w and the 2 IN of x. It writes nothing but
                // the registers named here, and the flags.
                unsafe {
                    asm!("2:", $($four,)* "cmp {w}, {end}", "bne 2b",
                        x = inout(reg) x.integers.as_ptr() => _,
                        w = inout(reg) w.as_ptr() => _,
                        end = in(reg) w.as_ptr().add(IN / 4 * 4),
                        a = inout(reg) a,
                        x02 = out(reg) _, x13 = out(reg) _, w4 = out(reg) _, even = out(reg) _,
                        options(nostack, readonly));
                }
            };
        }
        by_fours!(IN, one_row, body);
    }
    a + x.rest(0, w)
}

/// Four integers in the order in which [`four_dots`] reads them.
#[inline(always)]
pub(super) const fn in_order([a, b, c, d]: [i16; 4]) -> [i16; 4] {
    [a, c, b, d]
}

/// The products of `len` integers of a row, from one on whose number is a multiple of 4, with as many of each row of w from `column` on.
#[inline(always)]
pub(super) fn four_dots<const N: usize, const STRIDE: usize>(
    row: &Row<N>,
    from: usize,
    w: &[[i8; STRIDE]; 4],
    column: usize,
    len: usize,
) -> [i32; 4] {
    let x = row.integers.get(from / 4 * 4..).unwrap_or_default();
    let weights = w.each_ref().map(|w| w.get(column..).unwrap_or_default());
    let len = len.min(x.len()).min(STRIDE.saturating_sub(column));
    if const { 3 * STRIDE > 4095 } {
        return weights.map(|w| one_dot(x, w.get(..len).unwrap_or_default())); // the last row is out of an LDR's reach
    }
    let (mut a, mut b, mut c, mut d) = (0i32, 0i32, 0i32, 0i32);
    let (first, of_first) = (x.as_ptr(), weights[0].as_ptr());
    macro_rules! integers {
        ($range:expr, $($four:expr),*) => {
            let range = $range;
            if !range.is_empty() {
                // SAFETY: the loop runs until all integers of the range are taken, as many in each round as divide their number, which is not
                // 0. Each four reads 4 bytes of each of the four rows of w from `column` on, STRIDE bytes apart, at any address as LDR may,
                // and 4 integers of x, whose address is a multiple of 4, since that of a row is and so many bytes before x are. The range ends
                // within `len`: within the bytes from `column` on, which each row of w has, and the integers of x. It writes nothing but the
                // registers named here, and the flags.
                unsafe {
                    asm!("2:", $($four,)* "cmp {x}, {end}", "bne 2b",
                        row1 = const STRIDE, row2 = const 2 * STRIDE, row3 = const 3 * STRIDE,
                        x = inout(reg) first.add(range.start) => _,
                        w = inout(reg) of_first.add(range.start) => _,
                        end = in(reg) first.add(range.end),
                        a = inout(reg) a, b = inout(reg) b, c = inout(reg) c, d = inout(reg) d,
                        x02 = out(reg) _, x13 = out(reg) _, w4 = out(reg) _, even = out(reg) _,
                        options(nostack, readonly));
                }
            }
        };
    }
    integers!(0..len / 16 * 16, four_rows!(), four_rows!(), four_rows!(), four_rows!());
    integers!(len / 16 * 16..len / 4 * 4, four_rows!());
    let mut sums = [a, b, c, d];
    if !len.is_multiple_of(4) {
        let rest = len / 4 * 4;
        for (sum, w) in sums.iter_mut().zip(weights) {
            *sum = sum.wrapping_add(super::dot(x.iter().take(len).skip(rest), w.get(rest..).unwrap_or_default()));
        }
    }
    sums
}

/// The sum of the products of integers of a row with all of w, whose end is theirs.
#[inline(always)]
pub(super) fn one_dot(x: &[i16], w: &[i8]) -> i32 {
    let ((fours, rest), (w, w_rest)) = (x.get(..w.len()).unwrap_or(x).as_chunks::<4>(), w.as_chunks::<4>());
    let sums = fours.iter().zip(w).map(|([a, c, b, d], w)| super::dot([a, b, c, d].into_iter(), w));
    sums.sum::<i32>() + super::dot(rest.iter(), w_rest)
}
