//! What an observer is shown of heads.

use crate::{
    mask::{Mask, visible},
    number::Number,
    observe::{Observer, Watch},
};

/// Sees what each query of a head has for the keys that it sees, as `show` makes it of its row.
#[inline(always)]
pub(super) fn see<K: Mask, N: Number, O: Observer, const SEQ_LEN: usize>(
    watch: &mut Watch<'_, O>,
    name: &str,
    head: usize,
    rows: &[[N; SEQ_LEN]],
    [column, len]: [usize; 2],
    show: impl Fn(usize, N) -> f32,
) {
    if O::ACTIVE {
        for (row, values) in rows.iter().enumerate() {
            let values = values.map(|x| show(row, x));
            let seen = values.get(..visible::<K>(column + row, len)).unwrap_or(&values);
            watch.field(name).index(head).row(row, seen);
        }
    }
}
