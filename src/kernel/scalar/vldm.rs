//! A row alone on a Cortex-M4F or M7: VLDM loads eight weights with one instruction.
//!
//! The compiler loads each with one of its own, as many as it multiplies with. The loop over the inputs is one statement, since nearly all registers
//! are in use throughout. VMLA rounds the product and then the sum, as Rust does: so these are the bits of the portable code.

#![expect(unsafe_code, reason = "instructions that the compiler does not find")]

use super::{PANEL, Tile};
use core::{arch::asm, mem::MaybeUninit};

/// Columns that [`of_row`] multiplies with, at most.
pub(super) const STRIP: usize = 16;

/// Columns that it multiplies with where no more are wanted.
const NARROW: usize = 8;

/// Adds the input `$x` times weights to sums.
macro_rules! add {
    ($x:literal: $($sum:literal $w:literal)*) => { concat!($("vmla.f32 ", $sum, ", ", $w, ", ", $x, "\n"),*) };
}

/// An input times eight columns.
macro_rules! eight {
    (zeros) => {
        "vmov d0, {zero}, {zero}
         vmov d1, {zero}, {zero}
         vmov d2, {zero}, {zero}
         vmov d3, {zero}, {zero}"
    };
    ($x:literal) => {
        concat!(
            "vldmia {w}, {{s16-s23}}\n",
            add!($x: "s0" "s16" "s1" "s17" "s2" "s18" "s3" "s19" "s4" "s20" "s5" "s21" "s6" "s22" "s7" "s23"),
            "add {w}, {w}, {step}"
        )
    };
}

/// An input times sixteen columns.
macro_rules! sixteen {
    (zeros) => {
        "vmov d0, {zero}, {zero}
         vmov d1, {zero}, {zero}
         vmov d2, {zero}, {zero}
         vmov d3, {zero}, {zero}
         vmov d4, {zero}, {zero}
         vmov d5, {zero}, {zero}
         vmov d6, {zero}, {zero}
         vmov d7, {zero}, {zero}"
    };
    ($x:literal) => {
        concat!(
            "vldmia {w}!, {{s16-s23}}\n",
            add!($x: "s0" "s16" "s1" "s17" "s2" "s18" "s3" "s19" "s4" "s20" "s5" "s21" "s6" "s22" "s7" "s23"),
            "vldmia {w}, {{s16-s23}}\n",
            add!($x: "s8" "s16" "s9" "s17" "s10" "s18" "s11" "s19" "s12" "s20" "s13" "s21" "s14" "s22" "s15" "s23"),
            "add {w}, {w}, {step}"
        )
    };
}

/// The sums of `$count` inputs times as many rows of w, `$step` bytes from where one was read to the next: by fours, then one by one.
macro_rules! multiply {
    ($input:ident, $sums:expr, $x:expr, $w:expr, $count:expr, $step:expr) => {
        asm!(
            $input!(zeros),
            "subs {count}, {count}, #4",
            "blo 3f",
            "2:",
            "vldmia {x}!, {{s24-s27}}",
            $input!("s24"), $input!("s25"), $input!("s26"), $input!("s27"),
            "subs {count}, {count}, #4",
            "bhs 2b",
            "3:",
            "adds {count}, {count}, #4",
            "beq 5f",
            "4:",
            "vldmia {x}!, {{s24}}",
            $input!("s24"),
            "subs {count}, {count}, #1",
            "bne 4b",
            "5:",
            "vstmia {sums}, {{s0-s15}}",
            zero = in(reg) 0,
            sums = in(reg) $sums,
            x = inout(reg) $x => _,
            w = inout(reg) $w => _,
            count = inout(reg) $count => _,
            step = in(reg) $step,
            out("s0") _, out("s1") _, out("s2") _, out("s3") _, out("s4") _, out("s5") _, out("s6") _, out("s7") _,
            out("s8") _, out("s9") _, out("s10") _, out("s11") _, out("s12") _, out("s13") _, out("s14") _, out("s15") _,
            out("s16") _, out("s17") _, out("s18") _, out("s19") _, out("s20") _, out("s21") _, out("s22") _, out("s23") _,
            out("s24") _, out("s25") _, out("s26") _, out("s27") _,
            options(nostack)
        )
    };
}

/// A row times sixteen columns of a panel.
#[inline(always)]
pub(super) fn row_of_panel(x: &[f32], panel: &[[f32; PANEL]], column: usize) -> Tile {
    of_row(x, panel.as_flattened().get(column..).unwrap_or_default(), PANEL, STRIP)
}

/// A row times the first `columns` columns of w, at most sixteen, whose rows are `stride` numbers apart. The other sums mean nothing.
#[inline(never)]
pub(super) fn of_row(x: &[f32], w: &[f32], stride: usize, columns: usize) -> Tile {
    let width = if columns > NARROW { STRIP } else { NARROW };
    // Rows of w that do not end before the strip does.
    let rows = w.len().checked_sub(width).and_then(|rest| rest.checked_div(stride)).map_or(0, |rows| rows + 1);
    let whole = rows.min(x.len());
    let mut sums = MaybeUninit::<Tile>::uninit();
    // SAFETY: of x `whole` numbers are read, which it has; of w `width` numbers from each of 0, `stride`, ..., (`whole` - 1) `stride` on: they end at
    // (`rows` - 1) `stride` + `width` at the latest, and that is within w. Numbers are aligned as VLDM and VSTM ask. All sixteen sums are
    // written, and nothing else but the registers named here, and the flags.
    let sums = unsafe {
        let (to, x, w, step) = (sums.as_mut_ptr(), x.as_ptr(), w.as_ptr(), size_of::<f32>() * stride);
        if width == STRIP {
            multiply!(sixteen, to, x, w, whole, step.wrapping_sub(size_of::<[f32; NARROW]>()));
        } else {
            multiply!(eight, to, x, w, whole, step);
        }
        sums.assume_init_mut()
    };
    if whole < x.len() {
        add_short(sums, x.get(whole..).unwrap_or_default(), w.get(whole * stride..).unwrap_or_default(), stride);
    }
    *sums
}

/// Adds the products of inputs with rows of w that end before the strip does, but not before the columns that are wanted.
#[cold]
fn add_short(sums: &mut Tile, x: &[f32], mut w: &[f32], stride: usize) {
    for x in x {
        sums.as_flattened_mut().iter_mut().zip(w).for_each(|(sum, w)| *sum += x * w);
        w = w.get(stride..).unwrap_or_default();
    }
}

/// Σ w x, in eight sums: of the first numbers of all eights, of the second, and so on.
#[inline(always)]
pub(super) fn of_eights(w: &[[f32; 8]], x: &[[f32; 8]]) -> [[f32; 4]; 2] {
    let count = w.len().min(x.len());
    if count == 0 {
        return Default::default();
    }
    let mut sums = MaybeUninit::<[[f32; 4]; 2]>::uninit();
    // SAFETY: the loop runs `count` times, at least once, and each time reads eight numbers of w and of x, which have as many. Numbers are aligned as
    // VLDM and VSTM ask. All eight sums are written, and nothing else but the registers named here, and the flags.
    unsafe {
        asm!(
            eight!(zeros),
            "2:",
            "vldmia {x}!, {{s8-s15}}",
            "vldmia {w}!, {{s16-s23}}",
            "vmla.f32 s0, s16, s8",
            "vmla.f32 s1, s17, s9",
            "vmla.f32 s2, s18, s10",
            "vmla.f32 s3, s19, s11",
            "vmla.f32 s4, s20, s12",
            "vmla.f32 s5, s21, s13",
            "vmla.f32 s6, s22, s14",
            "vmla.f32 s7, s23, s15",
            "subs {count}, {count}, #1",
            "bne 2b",
            "vstmia {sums}, {{s0-s7}}",
            zero = in(reg) 0,
            sums = in(reg) sums.as_mut_ptr(),
            x = inout(reg) x.as_ptr() => _,
            w = inout(reg) w.as_ptr() => _,
            count = inout(reg) count => _,
            out("s0") _, out("s1") _, out("s2") _, out("s3") _, out("s4") _, out("s5") _, out("s6") _, out("s7") _,
            out("s8") _, out("s9") _, out("s10") _, out("s11") _, out("s12") _, out("s13") _, out("s14") _, out("s15") _,
            out("s16") _, out("s17") _, out("s18") _, out("s19") _, out("s20") _, out("s21") _, out("s22") _, out("s23") _,
            options(nostack)
        );
        sums.assume_init()
    }
}
