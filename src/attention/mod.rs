//! Multi-head attention: the only place where tokens meet.

mod grouped;
mod int8;
mod observed;
mod projections;
mod rotary;
mod scratch;
mod single;
mod stored;
mod training;

pub use grouped::GroupedQueryAttention;
pub(crate) use projections::{Place, Projections};
pub use scratch::{AttentionScratch, AttentionTile};
pub use stored::{KeyValueFormat, LookedUpIn};
pub use training::AttentionGradientScratch;
pub(crate) use training::TrainableProjections;

use crate::{
    activation::Identity,
    cost::Macs,
    family::Family,
    format::{Format, TrainableFormat},
    kernel::{Epilogue, Store},
    linear::Linear,
    mask::Mask,
    observe::{Unobserved, Watch},
    parameters,
    parameters::Name,
    rotation,
    sequence::Sequence,
    shape::{SplitInto, Width},
    tile::rows,
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = W_O concatₕ(softmax(qₕ Kₕᵀ / √d) Vₕ) + b_O, with q = W_Q x + b_Q, k = W_K x + b_K, v = W_V x + b_V
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token, before and after |
/// | h | | one of `HEADS` heads; it works on its own d columns of q, k and v |
/// | d | 1 | `D_MODEL` / `HEADS` |
/// | K, V | n x `D_MODEL` | keys and values of the n tokens that the token sees, by the family's [`Mask`] |
/// | W_Q, W_K, W_V, W_O | `D_MODEL` x `D_MODEL` | `query`, `key`, `value`, `output` |
/// | b | `D_MODEL` | their biases, absent if the family says so |
///
/// Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017. PyTorch:
/// `nn.MultiheadAttention(D_MODEL, HEADS)`, whose `in_proj_weight` is W_Q, W_K and W_V one above the other.
///
/// ```
/// use constformer::{AttentionScratch, Bert, MultiHeadAttention, Sequence, Zero};
///
/// static ATTENTION: MultiHeadAttention<Bert, 16, 4> = MultiHeadAttention::ZERO; // D_MODEL, HEADS
/// let mut x = Sequence::<16, 8>::from(nalgebra::SMatrix::repeat(1.0));
/// let mut scratch = AttentionScratch::<16, 8>::ZERO;
/// ATTENTION.forward(&mut x, &mut scratch);
/// assert_eq!(x.tokens(), [[0.0; 16]; 8]); // of weights that are all zero
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct MultiHeadAttention<F: Family, const D_MODEL: usize, const HEADS: usize, T: Format = f32>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    /// W_Q, b_Q
    pub query: Linear<D_MODEL, D_MODEL, T, F::InputBias>,
    /// W_K, b_K
    pub key: Linear<D_MODEL, D_MODEL, T, F::InputBias>,
    /// W_V, b_V
    pub value: Linear<D_MODEL, D_MODEL, T, F::InputBias>,
    /// W_O, b_O
    pub output: Linear<D_MODEL, D_MODEL, T, F::OutputBias>,
    family: PhantomData<F>,
}

parameters! {
    [F: Family, const D_MODEL: usize, const HEADS: usize, T: Format] MultiHeadAttention<F, D_MODEL, HEADS, T> {
        query, key, value, output, family
    }
    where { Width<D_MODEL>: SplitInto<HEADS> }
    structure: |fingerprint| rotation::fingerprint::<F::Rotation>(
        fingerprint.name("attention").number(HEADS).number(F::Mask::CAUSAL as usize)
    );
}

impl<F: Family, const D_MODEL: usize, const HEADS: usize, T: Format> MultiHeadAttention<F, D_MODEL, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    /// Columns of one head.
    pub const D_HEAD: usize = <Width<D_MODEL> as SplitInto<HEADS>>::D_HEAD;

    pub(crate) const MACS: Macs =
        Macs::per_token(4 * (D_MODEL * D_MODEL) as u64).and(Macs::per_pair(2 * D_MODEL as u64, F::Mask::CAUSAL));

    /// Replaces every token by y.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        scratch: &mut AttentionScratch<D_MODEL, SEQ_LEN, TILE, D_MODEL, T::KeyValues>,
    ) where
        T: Format<Number = f32>,
    {
        forward(self, x, scratch);
    }
}

/// Replaces every token of `x` by what `attention` makes of it.
fn forward<A, const D_MODEL: usize, const D_KV: usize, const SEQ_LEN: usize, const TILE: usize>(
    attention: &A,
    x: &mut Sequence<D_MODEL, SEQ_LEN>,
    scratch: &mut AttentionScratch<D_MODEL, SEQ_LEN, TILE, D_KV, A::KeyValues>,
) where
    A: Projections<D_MODEL, D_KV, Number = f32>,
{
    let AttentionScratch { key_values, tile } = scratch;
    let (len, rows) = (x.len(), rows::<TILE>(x.len()));
    let (root, nobody) = (Name::ROOT, &mut Unobserved);
    let nobody = &mut Watch::new(&root, nobody);
    for (i, x) in x.tokens().chunks(rows).enumerate() {
        let (place, all) = (Place { column: i * rows, before: 0 }, &mut A::KeyValues::all(key_values));
        A::KeyValues::remember(attention, x, place, all, &mut tile.query, nobody);
    }
    for (i, x) in x.tokens_mut().chunks_mut(rows).enumerate() {
        let context = attention.attend(x, Place { column: i * rows, before: 0 }, len, key_values, tile, nobody);
        attention.output(context, Store::<D_MODEL, Identity>::to(x));
    }
}

impl<F: Family, const D_MODEL: usize, const HEADS: usize, T: Format> Projections<D_MODEL, D_MODEL>
    for MultiHeadAttention<F, D_MODEL, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    type Number = T::Number;
    type Mask = F::Mask;
    type Rotation = F::Rotation;
    type KeyValues = T::KeyValues;
    type Stream = T::Stream;

    const D_HEAD: usize = <Width<D_MODEL> as SplitInto<HEADS>>::D_HEAD;
    const GROUP: usize = 1;

    fn query(&self, x: &[[T::Number; D_MODEL]], then: impl Epilogue<T::Number>) {
        self.query.multiply(x, then);
    }

    fn key(&self, x: &[[T::Number; D_MODEL]], then: impl Epilogue<T::Number>) {
        self.key.multiply(x, then);
    }

    fn value(&self, x: &[[T::Number; D_MODEL]], then: impl Epilogue<T::Number>) {
        self.value.multiply(x, then);
    }

    fn output(&self, context: &[[T::Number; D_MODEL]], then: impl Epilogue<T::Number>) {
        self.output.multiply(context, then);
    }
}

impl<F: Family, const D_MODEL: usize, const HEADS: usize, T: TrainableFormat> TrainableProjections<D_MODEL, D_MODEL>
    for MultiHeadAttention<F, D_MODEL, HEADS, T>
where
    Width<D_MODEL>: SplitInto<HEADS>,
{
    type Gradient = MultiHeadAttention<F, D_MODEL, HEADS, T::Gradient>;

    fn query_backward(
        &self,
        x: &[[f32; D_MODEL]],
        dy: &[[f32; D_MODEL]],
        dx: &mut [[f32; D_MODEL]],
        gradient: &mut Self::Gradient,
    ) {
        self.query.backward(x, dy, dx, &mut gradient.query);
    }

    fn key_value_backward(
        &self,
        x: &[[f32; D_MODEL]],
        [d_keys, d_values]: [&[[f32; D_MODEL]]; 2],
        dx: &mut [[f32; D_MODEL]],
        gradient: &mut Self::Gradient,
    ) {
        self.key.backward(x, d_keys, dx, &mut gradient.key);
        self.value.backward(x, d_values, dx, &mut gradient.value);
    }

    fn output_backward(&self, dy: &[[f32; D_MODEL]], d_context: &mut [[f32; D_MODEL]]) {
        T::add_backward(&self.output.weight, dy, d_context);
    }

    fn output_gradient(&self, context: &[[f32; D_MODEL]], dy: &[[f32; D_MODEL]], gradient: &mut Self::Gradient) {
        self.output.add_gradient(context, dy, &mut gradient.output);
    }
}
