//! Keys and values of 8 bits.

mod heads;

use super::{
    Place, Projections,
    stored::{KeyValueFormat, LookedUpIn},
};
#[cfg(feature = "rayon")]
use crate::kernel::PANEL;
use crate::{
    activation::Identity,
    format::panel_position,
    kernel::{Store, integer::Row},
    number::Number,
    observe::{Observer, Watch},
    plain::Zero,
};
use core::marker::PhantomData;
use heads::Attend;
use zerocopy::FromZeros;

/// The keys and values of up to `SEQ_LEN` tokens, of `D_KV` columns each: integers, times a scale for each token.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct KeyValues<const D_KV: usize, const SEQ_LEN: usize> {
    key_scales: [f32; SEQ_LEN],
    value_scales: [f32; SEQ_LEN],
    /// One a row, as a score sums over their columns.
    keys: [[i8; D_KV]; SEQ_LEN],
    /// In panels of 32 tokens, each column by column, as a context sums over tokens.
    values: [[i8; SEQ_LEN]; D_KV],
}

impl<const D_KV: usize, const SEQ_LEN: usize> Zero for KeyValues<D_KV, SEQ_LEN> {
    const ZERO: Self = Self {
        key_scales: Zero::ZERO,
        value_scales: Zero::ZERO,
        keys: [[0; D_KV]; SEQ_LEN],
        values: [[0; SEQ_LEN]; D_KV],
    };
}

/// What one token needs for one head after the other.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Heads<const SEQ_LEN: usize, N> {
    scores: [N; SEQ_LEN],
    weights: Row<SEQ_LEN>,
}

impl<const SEQ_LEN: usize, N: Number> Zero for Heads<SEQ_LEN, N> {
    const ZERO: Self = Self { scores: Zero::ZERO, weights: Zero::ZERO };
}

/// Keys and values to be written: all, or those of 32 tokens.
pub struct Part<'a, const D_KV: usize, const SEQ_LEN: usize> {
    key_scales: &'a mut [f32],
    value_scales: &'a mut [f32],
    keys: &'a mut [[i8; D_KV]],
    values: &'a mut [i8],
    /// The token that they begin with.
    first: usize,
}

impl<const D_KV: usize, const SEQ_LEN: usize> Part<'_, D_KV, SEQ_LEN> {
    fn set_key<N: Number>(&mut self, token: usize, key: &[N; D_KV]) {
        let i = token - self.first;
        if let (Some(integers), Some(scale)) = (self.keys.get_mut(i), self.key_scales.get_mut(i)) {
            let (of_token, inverse) = N::scales::<127>(N::greatest_magnitude(key));
            *scale = N::stored(of_token);
            integers.iter_mut().zip(key).for_each(|(q, x)| *q = x.nearest(inverse) as i8);
        }
    }

    fn set_value<N: Number>(&mut self, token: usize, value: &[N; D_KV]) {
        let i = token - self.first;
        let Some(scale) = self.value_scales.get_mut(i) else { return };
        let (of_token, inverse) = N::scales::<127>(N::greatest_magnitude(value));
        *scale = N::stored(of_token);
        // A column's numbers of a panel are one after the other.
        let width = position::<D_KV, SEQ_LEN>(1, token) - position::<D_KV, SEQ_LEN>(0, token);
        let first = position::<D_KV, SEQ_LEN>(0, token) - self.first * D_KV;
        for (column, x) in value.iter().enumerate() {
            if let Some(place) = self.values.get_mut(first + column * width) {
                *place = x.nearest(inverse) as i8;
            }
        }
    }
}

/// Where the number of `column` of the value of `token` is.
const fn position<const D_KV: usize, const SEQ_LEN: usize>(column: usize, token: usize) -> usize {
    panel_position(D_KV, SEQ_LEN, column, token)
}

impl KeyValueFormat for i8 {
    type KeyValues<const D_KV: usize, const SEQ_LEN: usize> = KeyValues<D_KV, SEQ_LEN>;
    type Part<'a, const D_KV: usize, const SEQ_LEN: usize> = Part<'a, D_KV, SEQ_LEN>;

    fn all<const D_KV: usize, const SEQ_LEN: usize>(
        KeyValues { key_scales, value_scales, keys, values }: &mut KeyValues<D_KV, SEQ_LEN>,
    ) -> Part<'_, D_KV, SEQ_LEN> {
        Part { key_scales, value_scales, keys, values: values.as_flattened_mut(), first: 0 }
    }

    #[cfg(feature = "rayon")]
    fn panels_mut<const D_KV: usize, const SEQ_LEN: usize>(
        KeyValues { key_scales, value_scales, keys, values }: &mut KeyValues<D_KV, SEQ_LEN>,
    ) -> impl Iterator<Item = Part<'_, D_KV, SEQ_LEN>> + Send {
        let scales = key_scales.chunks_mut(PANEL).zip(value_scales.chunks_mut(PANEL));
        let values = values.as_flattened_mut().chunks_mut((D_KV * PANEL).max(1));
        let parts = scales.zip(keys.chunks_mut(PANEL)).zip(values).enumerate();
        parts.map(|(i, (((key_scales, value_scales), keys), values))| Part {
            key_scales,
            value_scales,
            keys,
            values,
            first: i * PANEL,
        })
    }

    fn let_go<const D_KV: usize, const SEQ_LEN: usize>(
        KeyValues { key_scales, value_scales, keys, values }: &mut KeyValues<D_KV, SEQ_LEN>,
        count: usize,
        len: usize,
    ) {
        key_scales.copy_within(count..len, 0);
        value_scales.copy_within(count..len, 0);
        keys.copy_within(count..len, 0);
        let values = values.as_flattened_mut();
        for column in 0..D_KV {
            for token in count..len.min(SEQ_LEN) {
                let from = position::<D_KV, SEQ_LEN>(column, token);
                let to = position::<D_KV, SEQ_LEN>(column, token - count);
                values.copy_within(from..=from, to);
            }
        }
    }
}

#[expect(private_interfaces, private_bounds, reason = "hidden methods")]
impl<N: Number> LookedUpIn<N> for i8 {
    type Heads<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> = Heads<SEQ_LEN, N>;

    fn remember<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize>(
        of: &P,
        x: &[[N; D_MODEL]],
        place: Place,
        to: &mut Part<'_, D_KV, SEQ_LEN>,
        room: &mut [[N; D_MODEL]],
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = N>,
    {
        let room = room.as_flattened_mut().as_chunks_mut::<D_KV>().0;
        let rows = room.len().max(1);
        for (x, first) in x.chunks(rows).zip((0..).step_by(rows)) {
            let place = Place { column: place.column + first, before: place.before };
            let room = room.get_mut(..x.len()).unwrap_or_default();
            of.key(x, Store::<D_KV, Identity, _>::to(room));
            watch.field("key").further(first).rows(room);
            P::ROTARY.rotate_rows(room, place);
            for (token, key) in (place.column..).zip(&*room) {
                to.set_key(token, key);
            }
            of.value(x, Store::<D_KV, Identity, _>::to(room));
            watch.field("value").further(first).rows(room);
            for (token, value) in (place.column..).zip(&*room) {
                to.set_value(token, value);
            }
        }
    }

    fn attend<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize, const TILE: usize>(
        query: &mut [[N; D_MODEL]],
        heads: &mut Heads<SEQ_LEN, N>,
        key_values: &KeyValues<D_KV, SEQ_LEN>,
        column: usize,
        len: usize,
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = N>,
    {
        let (of, watch) = (PhantomData::<P>, watch.by_ref());
        N::dispatch(Attend { query, heads, key_values, column, len, of, watch });
    }
}
