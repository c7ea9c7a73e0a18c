//! That heads of keys and values divide the heads of queries.

use super::{KnownWidth, SplitInto, Width};
use core::ops::{Mul, Rem};
use typenum::{B1, IsEqual, UTerm};

type Number<const N: usize> = <Width<N> as KnownWidth>::Number;

/// The remainder of `HEADS / KV_HEADS`; only zero implements it.
#[diagnostic::on_unimplemented(
    message = "{KV_HEADS} heads of key and value (`KV_HEADS`) do not divide {HEADS} heads of the query (`HEADS`)",
    label = "`HEADS` = {HEADS} is not a multiple of `KV_HEADS` = {KV_HEADS}",
    note = "each head of key and value serves HEADS / KV_HEADS heads of the query"
)]
pub trait SharesHeads<const HEADS: usize, const KV_HEADS: usize> {}

impl<const HEADS: usize, const KV_HEADS: usize> SharesHeads<HEADS, KV_HEADS> for UTerm {}

/// Whether `D_MODEL` x `KV_HEADS` is `D_KV` x `HEADS`; only true implements it.
#[diagnostic::on_unimplemented(
    message = "{KV_HEADS} heads of key and value, of {D_MODEL} / {HEADS} columns each, do not make `D_KV` = {D_KV} columns",
    label = "`D_KV` = {D_KV} is not `KV_HEADS` = {KV_HEADS} times `D_MODEL` / `HEADS` = {D_MODEL} / {HEADS}"
)]
pub trait SameProduct<const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize> {}

impl<const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize>
    SameProduct<D_MODEL, HEADS, KV_HEADS, D_KV> for B1
{
}

/// `Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>`: the heads divide the model, the heads of key and value divide the heads,
/// and `D_KV` is the width of the latter. Generic code repeats this bound, and `Width<D_FF>: KnownWidth`.
#[diagnostic::on_unimplemented(
    message = "cannot show that `{Self}` splits into {HEADS} heads with {KV_HEADS} of key and value, {D_KV} columns wide",
    label = "a width or a number of heads is not known to the shape checker here",
    note = "in generic code, write both bounds: `where Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>, Width<D_FF>: KnownWidth`"
)]
pub trait SharedBy<const HEADS: usize, const KV_HEADS: usize, const D_KV: usize>: SplitInto<HEADS> {}

impl<const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize>
    SharedBy<HEADS, KV_HEADS, D_KV> for Width<D_MODEL>
where
    Width<D_MODEL>: KnownWidth + SplitInto<HEADS>,
    Width<HEADS>: KnownWidth,
    Width<KV_HEADS>: KnownWidth,
    Width<D_KV>: KnownWidth,
    Number<HEADS>: Rem<Number<KV_HEADS>> + Mul<Number<D_KV>>,
    <Number<HEADS> as Rem<Number<KV_HEADS>>>::Output: SharesHeads<HEADS, KV_HEADS>,
    Number<D_MODEL>: Mul<Number<KV_HEADS>>,
    <Number<D_MODEL> as Mul<Number<KV_HEADS>>>::Output: IsEqual<<Number<HEADS> as Mul<Number<D_KV>>>::Output>,
    <<Number<D_MODEL> as Mul<Number<KV_HEADS>>>::Output as IsEqual<<Number<HEADS> as Mul<Number<D_KV>>>::Output>>::Output:
        SameProduct<D_MODEL, HEADS, KV_HEADS, D_KV>,
{
}
