//! What all kinds of attention share: four linear maps, and context looked up.

use super::{AttentionTile, rotary::Rotary, stored::KeyValueFormat};
use crate::{
    activation::Identity,
    kernel::{Epilogue, Store},
    mask::Mask,
    observe::{Observer, Watch},
    rotation::Rotation,
    token_format::TokenFormat,
};

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
    /// How keys and values are stored.
    type KeyValues: KeyValueFormat;
    /// How the tokens between layers are stored.
    type Stream: TokenFormat;
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

    /// The context of the tokens `x`, of which there are `len` with keys and values.
    fn attend<'a, const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &[[f32; D_MODEL]],
        place: Place,
        len: usize,
        key_values: &<Self::KeyValues as KeyValueFormat>::KeyValues<D_KV, SEQ_LEN>,
        tile: &'a mut AttentionTile<D_MODEL, SEQ_LEN, TILE, Self::KeyValues>,
        watch: &mut Watch<'_, O>,
    ) -> &'a [[f32; D_MODEL]] {
        let AttentionTile { query, heads } = tile;
        let query = query.get_mut(..x.len().min(TILE)).unwrap_or_default();
        self.query(x, Store::<D_MODEL, Identity>::to(query));
        watch.field("query").rows(query);
        Self::ROTARY.rotate_rows(query, place);
        Self::KeyValues::attend::<Self, O, D_MODEL, D_KV, SEQ_LEN, TILE>(
            query,
            heads,
            key_values,
            place.column,
            len,
            watch,
        );
        watch.field("context").rows(query);
        query
    }
}
