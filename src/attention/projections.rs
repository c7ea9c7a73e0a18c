//! What all kinds of attention share: four linear maps, keys and values remembered, context looked up.

use super::{AttentionTile, KeyValues, KeyValuesMut, heads::Attend, keys::Remember, rotary::Rotary};
use crate::{
    activation::Identity,
    kernel::{Epilogue, Store},
    machine::dispatch,
    mask::Mask,
    observe::{Observer, Watch},
    rotation::Rotation,
};
use core::marker::PhantomData;

/// Where tokens stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The column of the first among keys and values.
    pub(crate) column: usize,
    /// How many tokens there were before the first column: those that a cache has let go.
    pub(crate) before: usize,
}

impl Place {
    pub(crate) const fn position(self) -> usize {
        self.before + self.column
    }
}

/// The linear maps of an attention layer, whose keys and values have `D_KV` columns.
pub(crate) trait Projections<const D_MODEL: usize, const D_KV: usize>: Sized {
    type Mask: Mask;
    type Rotation: Rotation;
    /// Columns of one head.
    const D_HEAD: usize;
    /// Heads of the query for each head of key and value.
    const GROUP: usize;
    /// How queries and keys are rotated.
    const ROTARY: Rotary<Self::Rotation> = Rotary::new(Self::D_HEAD);

    fn query(&self, x: &[[f32; D_MODEL]], then: impl Epilogue);
    fn key(&self, x: &[[f32; D_MODEL]], then: impl Epilogue);
    fn value(&self, x: &[[f32; D_MODEL]], then: impl Epilogue);
    fn output(&self, context: &[[f32; D_MODEL]], then: impl Epilogue);

    /// Writes the keys and values of the tokens `x`.
    fn remember<const SEQ_LEN: usize, O: Observer>(
        &self,
        x: &[[f32; D_MODEL]],
        place: Place,
        key_values: &mut KeyValuesMut<'_, D_KV, SEQ_LEN>,
        watch: &mut Watch<'_, O>,
    ) {
        let KeyValuesMut { keys, values, first } = key_values;
        self.key(x, Remember { keys, first: place.column });
        if O::ACTIVE {
            for row in 0..x.len() {
                let key: [f32; D_KV] = core::array::from_fn(|column| keys.get(column, place.column + row));
                watch.field("key").row(row, &key);
            }
        }
        Self::ROTARY.rotate_keys(keys, place, x.len());
        let values = values.get_mut(place.column - *first..).unwrap_or_default();
        self.value(x, Store::<D_KV, Identity>::to(values));
        watch.field("value").rows(values.get(..x.len()).unwrap_or_default());
    }

    /// The context of the tokens `x`, of which there are `len` with keys and values.
    fn attend<'a, const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &[[f32; D_MODEL]],
        place: Place,
        len: usize,
        key_values: &KeyValues<D_KV, SEQ_LEN>,
        tile: &'a mut AttentionTile<D_MODEL, SEQ_LEN, TILE>,
        watch: &mut Watch<'_, O>,
    ) -> &'a [[f32; D_MODEL]] {
        let AttentionTile { query, scores, scale } = tile;
        let rows = x.len().min(TILE);
        let query = query.get_mut(..rows).unwrap_or_default();
        self.query(x, Store::<D_MODEL, Identity>::to(query));
        watch.field("query").rows(query);
        Self::ROTARY.rotate_rows(query, place);
        dispatch(Attend::<Self, O, D_MODEL, D_KV, SEQ_LEN> {
            query,
            scores: scores.get_mut(..rows).unwrap_or_default(),
            scale,
            key_values,
            column: place.column,
            len,
            of: PhantomData::<Self>,
            watch: watch.by_ref(),
        });
        watch.field("context").rows(query);
        query
    }
}
