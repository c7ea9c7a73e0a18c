//! Keys and values as they were computed.

mod heads;
mod keys;

pub(super) use keys::KeysMut;

use super::{
    Place, Projections,
    stored::{KeyValueFormat, LookedUpIn},
};
#[cfg(feature = "rayon")]
use crate::kernel::PANEL;
use crate::{
    activation::Identity,
    kernel::Store,
    machine::dispatch,
    observe::{Observer, Watch},
    plain::Zero,
};
use core::marker::PhantomData;
use heads::Attend;
use keys::{Keys, Remember};
use zerocopy::FromZeros;

/// The keys and values of up to `SEQ_LEN` tokens, of `D_KV` columns each.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct KeyValues<const D_KV: usize, const SEQ_LEN: usize> {
    keys: Keys<D_KV, SEQ_LEN>,
    values: [[f32; D_KV]; SEQ_LEN],
}

impl<const D_KV: usize, const SEQ_LEN: usize> Zero for KeyValues<D_KV, SEQ_LEN> {
    const ZERO: Self = Self { keys: Zero::ZERO, values: Zero::ZERO };
}

/// What a tile of `TILE` tokens needs for one head after the other.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Heads<const SEQ_LEN: usize, const TILE: usize> {
    scores: [[f32; SEQ_LEN]; TILE],
    /// 1 / the sum of a row of exponentials.
    scale: [f32; TILE],
}

impl<const SEQ_LEN: usize, const TILE: usize> Zero for Heads<SEQ_LEN, TILE> {
    const ZERO: Self = Self { scores: Zero::ZERO, scale: Zero::ZERO };
}

/// Keys and values to be written: all, or those of 32 tokens.
pub struct Part<'a, const D_KV: usize, const SEQ_LEN: usize> {
    keys: KeysMut<'a, D_KV, SEQ_LEN>,
    values: &'a mut [[f32; D_KV]],
    /// The token that they begin with.
    first: usize,
}

impl KeyValueFormat for f32 {
    type KeyValues<const D_KV: usize, const SEQ_LEN: usize> = KeyValues<D_KV, SEQ_LEN>;
    type Part<'a, const D_KV: usize, const SEQ_LEN: usize> = Part<'a, D_KV, SEQ_LEN>;

    fn all<const D_KV: usize, const SEQ_LEN: usize>(
        key_values: &mut KeyValues<D_KV, SEQ_LEN>,
    ) -> Part<'_, D_KV, SEQ_LEN> {
        Part { keys: key_values.keys.all(), values: &mut key_values.values, first: 0 }
    }

    #[cfg(feature = "rayon")]
    fn panels_mut<const D_KV: usize, const SEQ_LEN: usize>(
        key_values: &mut KeyValues<D_KV, SEQ_LEN>,
    ) -> impl Iterator<Item = Part<'_, D_KV, SEQ_LEN>> + Send {
        let parts = key_values.keys.panels_mut().zip(key_values.values.chunks_mut(PANEL)).enumerate();
        parts.map(|(i, (keys, values))| Part { keys, values, first: i * PANEL })
    }

    fn let_go<const D_KV: usize, const SEQ_LEN: usize>(
        KeyValues { keys, values }: &mut KeyValues<D_KV, SEQ_LEN>,
        count: usize,
        len: usize,
    ) {
        keys.let_go(count, len);
        values.copy_within(count..len, 0);
    }
}

#[expect(private_interfaces, private_bounds, reason = "hidden methods")]
impl LookedUpIn<Self> for f32 {
    type Heads<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize> = Heads<SEQ_LEN, TILE>;

    fn remember<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize>(
        of: &P,
        x: &[[f32; D_MODEL]],
        place: Place,
        Part { keys, values, first }: &mut Part<'_, D_KV, SEQ_LEN>,
        _: &mut [[f32; D_MODEL]],
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = Self>,
    {
        of.key(x, Remember { keys, first: place.column });
        if O::ACTIVE {
            for row in 0..x.len() {
                let key: [f32; D_KV] = core::array::from_fn(|column| keys.get(column, place.column + row));
                watch.field("key").row(row, &key);
            }
        }
        P::ROTARY.rotate_keys(keys, place, x.len());
        let values = values.get_mut(place.column - *first..).unwrap_or_default();
        of.value(x, Store::<D_KV, Identity>::to(values));
        watch.field("value").rows(values.get(..x.len()).unwrap_or_default());
    }

    fn attend<P, O: Observer, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize, const TILE: usize>(
        query: &mut [[f32; D_MODEL]],
        Heads { scores, scale }: &mut Heads<SEQ_LEN, TILE>,
        key_values: &KeyValues<D_KV, SEQ_LEN>,
        column: usize,
        len: usize,
        watch: &mut Watch<'_, O>,
    ) where
        P: Projections<D_MODEL, D_KV, Number = Self>,
    {
        let scores = scores.get_mut(..query.len()).unwrap_or_default();
        let (of, watch) = (PhantomData::<P>, watch.by_ref());
        dispatch(Attend { query, scores, scale, key_values, column, len, of, watch });
    }
}
