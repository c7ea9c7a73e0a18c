//! Arithmetic of shapes as types, on stable Rust.
//!
//! `D_MODEL` and `HEADS` are const generics; that one divides the other is a trait bound,
//! `Width<D_MODEL>: SplitInto<HEADS>`, so that a mistake is an error of `cargo check`, and so of the editor. The remainder
//! is `typenum`'s; the traits around it exist for their messages.

mod grouped;
mod widths;

pub use grouped::{SameProduct, SharedBy, SharesHeads};

use crate::plain::{Plain, Zero};
use core::ops::Rem;
use typenum::UTerm;
use zerocopy::IntoBytes;

/// A width as a type, so that traits can talk about it.
#[derive(Clone, Copy, Debug)]
pub struct Width<const N: usize>;

/// A width that the shape checker knows: 1 to 2048, then every multiple of 16 up to 16384.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no width and no number of heads that the shape checker knows",
    label = "known are 1 to 2048, then the multiples of 16 up to 16384",
    note = "in generic code, write both bounds: `where Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth`",
    note = "around maps without heads, `where Width<IN>: KnownWidth`, with their own number of inputs"
)]
pub trait KnownWidth {
    /// The same number in `typenum`.
    type Number;
    /// As many integers of 4 bits, two a byte.
    #[doc(hidden)]
    type Nibbles: Bytes;
    /// A byte for every 32 of them.
    #[doc(hidden)]
    type Groups: Bytes;
}

/// An array of bytes.
#[doc(hidden)]
#[allow(unreachable_pub, reason = "`KnownWidth` names it; older compilers do not see that")]
pub trait Bytes: Plain + IntoBytes + Zero {}

impl<const N: usize> Bytes for [u8; N] {}

/// The remainder of `D_MODEL / HEADS`; only zero implements it.
#[diagnostic::on_unimplemented(
    message = "{HEADS} heads do not divide a model width (`D_MODEL`) of {D_MODEL}",
    label = "`D_MODEL` = {D_MODEL} is not a multiple of `HEADS` = {HEADS}",
    note = "each head works on D_MODEL / HEADS columns, so the division must leave no remainder"
)]
pub trait NoRemainder<const D_MODEL: usize, const HEADS: usize> {}

impl<const D_MODEL: usize, const HEADS: usize> NoRemainder<D_MODEL, HEADS> for UTerm {}

/// `Width<D_MODEL>: SplitInto<HEADS>`: the heads divide the model. Generic code repeats this bound, and `Width<D_FF>: KnownWidth`.
#[diagnostic::on_unimplemented(
    message = "cannot show that `{Self}` splits into {HEADS} heads",
    label = "the width or the number of heads is not known to the shape checker here",
    note = "in generic code, write both bounds: `where Width<D_MODEL>: SplitInto<HEADS>, Width<D_FF>: KnownWidth`"
)]
pub trait SplitInto<const HEADS: usize>: KnownWidth {
    /// Columns of one head, `D_MODEL / HEADS`.
    const D_HEAD: usize;
}

impl<const D_MODEL: usize, const HEADS: usize> SplitInto<HEADS> for Width<D_MODEL>
where
    Width<D_MODEL>: KnownWidth,
    Width<HEADS>: KnownWidth,
    <Width<D_MODEL> as KnownWidth>::Number: Rem<<Width<HEADS> as KnownWidth>::Number>,
    <<Width<D_MODEL> as KnownWidth>::Number as Rem<<Width<HEADS> as KnownWidth>::Number>>::Output:
        NoRemainder<D_MODEL, HEADS>,
{
    // The second line of defence, should the table above ever disagree with arithmetic.
    const D_HEAD: usize = {
        assert!(HEADS > 0 && D_MODEL.is_multiple_of(HEADS), "HEADS must divide D_MODEL");
        D_MODEL / HEADS
    };
}
