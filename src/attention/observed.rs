//! What an observer is shown of heads.

use crate::{
    mask::{Mask, visible},
    observe::{Observer, Watch},
};

/// Sees what each query of a head has for the keys that it sees, times the `factor` of its row.
#[inline(always)]
pub(super) fn see<K: Mask, O: Observer, const SEQ_LEN: usize>(
    watch: &mut Watch<'_, O>,
    name: &str,
    head: usize,
    rows: &[[f32; SEQ_LEN]],
    [column, len]: [usize; 2],
    factor: impl Fn(usize) -> f32,
) {
    if O::ACTIVE {
        for (row, values) in rows.iter().enumerate() {
            let values = values.map(|x| x * factor(row));
            let seen = values.get(..visible::<K>(column + row, len)).unwrap_or(&values);
            watch.field(name).index(head).row(row, seen);
        }
    }
}
