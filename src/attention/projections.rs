//! What all kinds of attention share: four linear maps, and context looked up.

use super::{
    AttentionTile,
    rotary::Rotary,
    stored::{KeyValueFormat, LookedUpIn},
};
use crate::{
    activation::Identity,
    kernel::{Epilogue, Store},
    mask::Mask,
    number::Number,
    observe::{Observer, Watch},
    rotation::Rotation,
    token_format::ComputedIn,
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
    /// What is computed with.
    type Number: Number;
    type Mask: Mask;
    type Rotation: Rotation;
    /// How keys and values are stored.
    type KeyValues: LookedUpIn<Self::Number>;
    /// How the tokens between layers are stored.
    type Stream: ComputedIn<Self::Number>;
    /// Columns of one head.
    const D_HEAD: usize;
    /// Heads of the query for each head of key and value.
    const GROUP: usize;
    /// 1 / √d
    const TEMPERATURE: f32 = 1.0 / square_root(Self::D_HEAD) as f32;
    /// How queries and keys are rotated.
    const ROTARY: Rotary<Self::Rotation> = Rotary::new(Self::D_HEAD);

    fn query(&self, x: &[[Self::Number; D_MODEL]], then: impl Epilogue<Self::Number>);
    fn key(&self, x: &[[Self::Number; D_MODEL]], then: impl Epilogue<Self::Number>);
    fn value(&self, x: &[[Self::Number; D_MODEL]], then: impl Epilogue<Self::Number>);
    fn output(&self, context: &[[Self::Number; D_MODEL]], then: impl Epilogue<Self::Number>);

    /// The context of the tokens `x`, of which there are `len` with keys and values.
    fn attend<'a, const SEQ_LEN: usize, const TILE: usize, O: Observer>(
        &self,
        x: &[[Self::Number; D_MODEL]],
        place: Place,
        len: usize,
        key_values: &<Self::KeyValues as KeyValueFormat>::KeyValues<D_KV, SEQ_LEN>,
        tile: &'a mut AttentionTile<D_MODEL, SEQ_LEN, TILE, Self::KeyValues, Self::Number>,
        watch: &mut Watch<'_, O>,
    ) -> &'a [[Self::Number; D_MODEL]] {
        let AttentionTile { query, heads } = tile;
        let query = query.get_mut(..x.len().min(TILE)).unwrap_or_default();
        self.query(x, Store::<D_MODEL, Identity, _>::to(query));
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

/// √n, by Newton's method.
const fn square_root(n: usize) -> f64 {
    let (n, mut x) = (n as f64, n as f64);
    let mut steps = 0;
    while steps < 40 {
        x = 0.5 * (x + n / x);
        steps += 1;
    }
    x
}
