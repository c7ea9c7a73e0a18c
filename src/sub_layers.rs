//! Self-attention and feed-forward with their residual connections: what all blocks have in common.

use crate::{
    activation::Identity,
    attention::{AttentionTile, KeyValueFormat, LookedUpIn, Place, Projections},
    feed_forward::{FeedForwardScratch, PositionWise},
    kernel::{Add, Store},
    mask::Mask,
    norm::Norm,
    number::Number,
    observe::{Observer, Watch},
    plain::Zero,
    residual::{Placement, after, before},
    sequence::Sequence,
    tile::rows,
    token_format::{ComputedIn, TokenFormat},
};
use core::marker::PhantomData;
use zerocopy::FromZeros;

/// Working memory of a block, and of a stack of them: what it holds before and after does not matter, so all layers share it.
///
/// Only keys and values are as long as the sequence. All else is as long as a tile of `TILE` tokens, since only attention
/// mixes tokens.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Scratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    const D_KV: usize = D_MODEL,
    K: LookedUpIn<N> = f32,
    X: ComputedIn<N> = f32,
    N: Number = f32,
> {
    pub(crate) key_values: K::KeyValues<D_KV, SEQ_LEN>,
    pub(crate) tile: TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE, K, X, N>,
}

impl<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    const D_KV: usize,
    K: LookedUpIn<N>,
    X: ComputedIn<N>,
    N: Number,
> Zero for Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, K, X, N>
{
    const ZERO: Self = Self { key_values: Zero::ZERO, tile: Zero::ZERO };
}

/// What the sub-layers of a block need for a tile of `TILE` tokens that see up to `SEQ_LEN`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct TileScratch<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize = { crate::TILE },
    K: LookedUpIn<N> = f32,
    X: ComputedIn<N> = f32,
    N: Number = f32,
> {
    /// The tokens, if they are stored otherwise than they are computed.
    pub(crate) tokens: X::Room<D_MODEL, TILE>,
    pub(crate) work: Work<D_MODEL, D_FF, SEQ_LEN, TILE, K, N>,
}

/// What the sub-layers need besides the tokens of the tile.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Work<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    K: LookedUpIn<N>,
    N: Number,
> {
    pub(crate) attention: AttentionTile<D_MODEL, SEQ_LEN, TILE, K, N>,
    pub(crate) feed_forward: FeedForwardScratch<D_FF, TILE, N>,
    /// What a sub-layer is given, if that is normalised first.
    pub(crate) input: [[N; D_MODEL]; TILE],
}

impl<
    const D_MODEL: usize,
    const D_FF: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
    K: LookedUpIn<N>,
    X: ComputedIn<N>,
    N: Number,
> Zero for TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE, K, X, N>
{
    const ZERO: Self = Self { tokens: Zero::ZERO, work: Zero::ZERO };
}

impl<const D_MODEL: usize, const D_FF: usize, const SEQ_LEN: usize, const TILE: usize, K: LookedUpIn<N>, N: Number> Zero
    for Work<D_MODEL, D_FF, SEQ_LEN, TILE, K, N>
{
    const ZERO: Self = Self { attention: Zero::ZERO, feed_forward: Zero::ZERO, input: Zero::ZERO };
}

/// The tokens before those that a block is given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remembered {
    /// How many there are keys and values of.
    pub(crate) tokens: usize,
    /// How many came before them.
    pub(crate) let_go: usize,
}

/// The keys and values of up to `SEQ_LEN` tokens, of `D_KV` columns each, stored as `K`.
pub(crate) type Remembers<K, const D_KV: usize, const SEQ_LEN: usize> = <K as KeyValueFormat>::KeyValues<D_KV, SEQ_LEN>;

/// The sub-layers of a block, where they lie.
pub(crate) struct SubLayers<'a, P, A, N, W> {
    pub(crate) attention: &'a A,
    /// What attention, its norm and its residual connection are called.
    pub(crate) names: [&'static str; 3],
    pub(crate) attention_norm: &'a N,
    pub(crate) feed_forward: &'a W,
    pub(crate) feed_forward_norm: &'a N,
    pub(crate) placement: PhantomData<P>,
}

/// Steps of a block with the mask `K` for `len` tokens: one for each tile, and, where tokens see later ones, one more.
pub(crate) const fn steps<K: Mask, const TILE: usize>(len: usize) -> usize {
    let tiles = len.div_ceil(rows::<TILE>(len));
    if K::CAUSAL { tiles } else { 2 * tiles }
}

/// What [`SubLayers::names`] are in a block with one attention layer.
pub(crate) const NAMES: [&str; 3] = ["attention", "attention_norm", "attention_residual"];

impl<P: Placement, A, N, W> SubLayers<'_, P, A, N, W> {
    /// Replaces all tokens by the output of the block.
    pub(crate) fn forward<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
        O: Observer,
    >(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN, A::Stream>,
        scratch: &mut Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV, A::KeyValues, A::Stream, A::Number>,
        watch: &mut Watch<'_, O>,
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF, Number = A::Number>,
    {
        let Scratch { key_values, tile } = scratch;
        self.extend(x.stored_mut(), Remembered::default(), key_values, tile, watch, |_, _, _| ());
    }

    /// Replaces the tokens `x` by the output of the block, and remembers them too. `between` is what happens to a tile of
    /// tokens between attention and feed-forward; it may use the room that it is given.
    pub(crate) fn extend<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
        O: Observer,
    >(
        &self,
        x: &mut [<A::Stream as TokenFormat>::Token<D_MODEL>],
        remembered: Remembered,
        key_values: &mut Remembers<A::KeyValues, D_KV, SEQ_LEN>,
        tile: &mut TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE, A::KeyValues, A::Stream, A::Number>,
        watch: &mut Watch<'_, O>,
        mut between: impl FnMut(&mut [[A::Number; D_MODEL]], &mut [[A::Number; D_MODEL]], &mut Watch<'_, O>),
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF, Number = A::Number>,
    {
        for step in 0..steps::<A::Mask, TILE>(x.len()) {
            self.step(step, x, remembered, key_values, tile, watch, &mut between);
        }
    }

    /// A step of [`extend`](Self::extend): keys and values of a tile of tokens are remembered, or its tokens are replaced.
    #[expect(clippy::too_many_arguments, reason = "those of `extend`, and which step")]
    pub(crate) fn step<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
        O: Observer,
    >(
        &self,
        step: usize,
        x: &mut [<A::Stream as TokenFormat>::Token<D_MODEL>],
        remembered: Remembered,
        key_values: &mut Remembers<A::KeyValues, D_KV, SEQ_LEN>,
        scratch: &mut TileScratch<D_MODEL, D_FF, SEQ_LEN, TILE, A::KeyValues, A::Stream, A::Number>,
        watch: &mut Watch<'_, O>,
        between: impl FnOnce(&mut [[A::Number; D_MODEL]], &mut [[A::Number; D_MODEL]], &mut Watch<'_, O>),
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF, Number = A::Number>,
    {
        let (len, rows) = (remembered.tokens + x.len(), rows::<TILE>(x.len()));
        // No token of a causal block sees a later one, so one pass does.
        let first_pass = if A::Mask::CAUSAL { 0 } else { x.len().div_ceil(rows) };
        let tile = step.checked_sub(first_pass).unwrap_or(step);
        let place = Place { column: remembered.tokens + tile * rows, before: remembered.let_go };
        let watch = &mut watch.at(place.position());
        let Some(x) = x.chunks_mut(rows).nth(tile) else { return };
        let TileScratch { tokens, work } = scratch;
        let x = A::Stream::tile(x, tokens);
        if step < first_pass {
            return self.remember(x.tokens, place, &mut A::KeyValues::all(key_values), work, watch);
        }
        self.tile(
            x.tokens,
            place,
            work,
            watch,
            move |normed, room, watch| {
                if A::Mask::CAUSAL {
                    A::KeyValues::remember(
                        self.attention,
                        normed,
                        place,
                        &mut A::KeyValues::all(key_values),
                        room,
                        watch,
                    );
                }
                (&*key_values, len)
            },
            between,
        );
        x.store();
    }

    /// Writes the keys and values of a tile of tokens.
    pub(crate) fn remember<
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
        O: Observer,
    >(
        &self,
        x: &[[A::Number; D_MODEL]],
        place: Place,
        to: &mut <A::KeyValues as KeyValueFormat>::Part<'_, D_KV, SEQ_LEN>,
        work: &mut Work<D_MODEL, D_FF, SEQ_LEN, TILE, A::KeyValues, A::Number>,
        watch: &mut Watch<'_, O>,
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
    {
        let [attention_name, ..] = self.names;
        let normed = before::<P, _, D_MODEL>(self.attention_norm, x, &mut work.input);
        let (room, watch) = (&mut work.attention.query, &mut watch.field(attention_name));
        A::KeyValues::remember(self.attention, normed, place, to, room, watch);
    }

    /// Replaces a tile of tokens by the output of the block. `known` is handed what attention is given, and room, and returns the
    /// keys and values that there are, and of how many tokens.
    pub(crate) fn tile<
        'k,
        const D_MODEL: usize,
        const D_FF: usize,
        const SEQ_LEN: usize,
        const TILE: usize,
        const D_KV: usize,
        O: Observer,
    >(
        &self,
        x: &mut [[A::Number; D_MODEL]],
        place: Place,
        work: &mut Work<D_MODEL, D_FF, SEQ_LEN, TILE, A::KeyValues, A::Number>,
        watch: &mut Watch<'_, O>,
        known: impl FnOnce(
            &[[A::Number; D_MODEL]],
            &mut [[A::Number; D_MODEL]],
            &mut Watch<'_, O>,
        ) -> (&'k Remembers<A::KeyValues, D_KV, SEQ_LEN>, usize),
        between: impl FnOnce(&mut [[A::Number; D_MODEL]], &mut [[A::Number; D_MODEL]], &mut Watch<'_, O>),
    ) where
        A: Projections<D_MODEL, D_KV>,
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF, Number = A::Number>,
    {
        let Work { attention, feed_forward, input } = work;
        let [attention_name, norm_name, residual_name] = self.names;
        let normed = before::<P, _, D_MODEL>(self.attention_norm, x, input);
        see_before::<P, _, D_MODEL>(&mut watch.field(norm_name), normed);
        let of_attention = &mut watch.field(attention_name);
        let (key_values, len) = known(normed, &mut attention.query, of_attention);
        let context = self.attention.attend(normed, place, len, key_values, attention, of_attention);
        see_output(of_attention, x.len(), input, |out| self.attention.output(context, out));
        self.attention.output(context, Add(x));
        watch.field(residual_name).rows(x);
        after::<P, _, D_MODEL>(self.attention_norm, x);
        see_after::<P, _, D_MODEL>(&mut watch.field(norm_name), x);
        between(x, input, watch);
        self.feed_forward(x, feed_forward, input, watch);
        watch.rows(x);
    }

    /// x becomes after(x + feed_forward(before(x))), for a tile of tokens.
    fn feed_forward<const D_MODEL: usize, const D_FF: usize, const TILE: usize, O: Observer>(
        &self,
        x: &mut [[W::Number; D_MODEL]],
        scratch: &mut FeedForwardScratch<D_FF, TILE, W::Number>,
        input: &mut [[W::Number; D_MODEL]],
        watch: &mut Watch<'_, O>,
    ) where
        N: Norm<D_MODEL>,
        W: PositionWise<D_MODEL, D_FF>,
    {
        let hidden = scratch.hidden(x.len());
        let normed = before::<P, _, D_MODEL>(self.feed_forward_norm, x, input);
        see_before::<P, _, D_MODEL>(&mut watch.field("feed_forward_norm"), normed);
        if O::ACTIVE {
            self.feed_forward.show(normed, hidden, &mut watch.field("feed_forward"));
        }
        self.feed_forward.widen(normed, hidden);
        watch.field("feed_forward").field("hidden").rows(hidden);
        see_output(&mut watch.field("feed_forward"), x.len(), input, |out| self.feed_forward.narrow(hidden, out));
        self.feed_forward.narrow(hidden, Add(x));
        watch.field("feed_forward_residual").rows(x);
        after::<P, _, D_MODEL>(self.feed_forward_norm, x);
        see_after::<P, _, D_MODEL>(&mut watch.field("feed_forward_norm"), x);
    }
}

/// Sees the output of a norm before a sub-layer, if it sits there.
pub(crate) fn see_before<P: Placement, X: Number, const D_MODEL: usize>(
    watch: &mut Watch<'_, impl Observer>,
    normed: &[[X; D_MODEL]],
) {
    if P::NORM_FIRST {
        watch.rows(normed);
    }
}

/// Sees the output of a norm after a sub-layer, if it sits there.
pub(crate) fn see_after<P: Placement, X: Number, const D_MODEL: usize>(
    watch: &mut Watch<'_, impl Observer>,
    x: &[[X; D_MODEL]],
) {
    if !P::NORM_FIRST {
        watch.rows(x);
    }
}

/// Sees `count` outputs of a sub-layer before they go into the stream; `room` is for them.
pub(crate) fn see_output<X: Number, O: Observer, const D_MODEL: usize>(
    watch: &mut Watch<'_, O>,
    count: usize,
    room: &mut [[X; D_MODEL]],
    output: impl FnOnce(Store<'_, D_MODEL, Identity, X>),
) {
    if O::ACTIVE {
        let room = room.get_mut(..count).unwrap_or_default();
        output(Store::to(room));
        watch.rows(room);
    }
}
