//! Keys, stored so that scores are a product.

use crate::{
    format::panel_position,
    kernel::{Epilogue, PANEL},
    machine::Lanes,
    plain::Zero,
};
use zerocopy::FromZeros;

/// The keys of up to `SEQ_LEN` tokens, of `D_KV` columns each: transposed, in panels of 32 tokens, each column by column, as
/// weights are in panels of outputs. So the scores of a head read the keys one after the other, and a key more touches one panel.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Keys<const D_KV: usize, const SEQ_LEN: usize>([[f32; SEQ_LEN]; D_KV]);

impl<const D_KV: usize, const SEQ_LEN: usize> Zero for Keys<D_KV, SEQ_LEN> {
    const ZERO: Self = Self(Zero::ZERO);
}

/// A panel of keys: `numbers` are `width` for each column.
pub(super) struct Panel<'a> {
    pub(super) numbers: &'a [f32],
    pub(super) width: usize,
}

impl<const D_KV: usize, const SEQ_LEN: usize> Keys<D_KV, SEQ_LEN> {
    /// Tokens of the panel that begins with the token `first`.
    const fn width(first: usize) -> usize {
        let rest = SEQ_LEN.saturating_sub(first);
        if rest < PANEL { rest } else { PANEL }
    }

    /// The panels, in order.
    pub(super) fn panels(&self) -> impl Iterator<Item = Panel<'_>> {
        let panels = self.0.as_flattened().chunks((D_KV * PANEL).max(1)).enumerate();
        panels.map(|(i, numbers)| Panel { numbers, width: Self::width(i * PANEL) })
    }

    /// All keys, to be written.
    pub(super) const fn all(&mut self) -> KeysMut<'_, D_KV, SEQ_LEN> {
        KeysMut { numbers: self.0.as_flattened_mut(), first: 0 }
    }

    /// The panels, in order, to be written at the same time.
    #[cfg(feature = "rayon")]
    pub(super) fn panels_mut(&mut self) -> impl Iterator<Item = KeysMut<'_, D_KV, SEQ_LEN>> {
        let panels = self.0.as_flattened_mut().chunks_mut((D_KV * PANEL).max(1)).enumerate();
        panels.map(|(i, numbers)| KeysMut { numbers, first: i * PANEL })
    }

    /// Forgets the `count` oldest of `len` keys.
    pub(super) fn let_go(&mut self, count: usize, len: usize) {
        let mut keys = self.all();
        for column in 0..D_KV {
            for token in count..len {
                keys.set(column, token - count, keys.get(column, token));
            }
        }
    }
}

/// Keys to be written: all, or one panel.
pub(in super::super) struct KeysMut<'a, const D_KV: usize, const SEQ_LEN: usize> {
    numbers: &'a mut [f32],
    /// The first token; a panel begins with it.
    first: usize,
}

impl<const D_KV: usize, const SEQ_LEN: usize> KeysMut<'_, D_KV, SEQ_LEN> {
    /// Where the number of `column` of the key of `token` is; nowhere for a token that there is no room for, or before the first.
    const fn position(&self, column: usize, token: usize) -> Option<usize> {
        if token >= SEQ_LEN {
            return None;
        }
        panel_position(D_KV, SEQ_LEN, column, token).checked_sub(self.first * D_KV)
    }

    /// The number of `column` of the key of `token`; 0 where there is no such key.
    pub(in super::super) fn get(&self, column: usize, token: usize) -> f32 {
        let position = self.position(column, token);
        position.and_then(|position| self.numbers.get(position)).copied().unwrap_or_default()
    }

    /// Sets the number of `column` of the key of `token`, if there is such a key.
    pub(in super::super) fn set(&mut self, column: usize, token: usize, number: f32) {
        let position = self.position(column, token);
        if let Some(place) = position.and_then(|position| self.numbers.get_mut(position)) {
            *place = number;
        }
    }
}

/// Products become keys: row r that of token `first` + r.
pub(super) struct Remember<'a, 'k, const D_KV: usize, const SEQ_LEN: usize> {
    pub(super) keys: &'a mut KeysMut<'k, D_KV, SEQ_LEN>,
    pub(super) first: usize,
}

impl<const D_KV: usize, const SEQ_LEN: usize> Epilogue for Remember<'_, '_, D_KV, SEQ_LEN> {
    #[inline(always)]
    fn store<M: Lanes<Number = f32>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        let mut lanes = [0.0; PANEL];
        m.store(sums, &mut lanes);
        for (column, lane) in (column..).zip(lanes).take(count) {
            self.keys.set(column, self.first + row, lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two panels, one of 32 tokens and one of 3.
    #[test]
    fn a_key_is_where_it_was_put_and_nowhere_else() {
        let mut keys = Keys::<2, 35>::ZERO;
        let mut all = keys.all();
        for token in 0..70 {
            all.set(0, token, token as f32);
            all.set(1, token, -(token as f32));
        }
        for token in 0..70 {
            let expected = if token < 35 { token as f32 } else { 0.0 };
            assert_eq!([all.get(0, token), all.get(1, token)], [expected, -expected], "token {token}");
        }
        keys.let_go(2, 35);
        assert_eq!([30, 31, 32].map(|token| keys.all().get(1, token)), [-32.0, -33.0, -34.0]);
    }
}
