//! Multi-head attention: the only place where tokens meet.

mod heads;
mod scratch;

pub use scratch::{AttentionScratch, KeyValues};

use crate::{
    activation::Identity,
    cost::Macs,
    family::Family,
    format::Format,
    kernel::{Epilogue, Store, Transpose},
    linear::Linear,
    machine::dispatch,
    mask::Mask,
    parameters,
    sequence::Sequence,
    shape::{SplitInto, Width},
};
use core::marker::PhantomData;
use heads::Attend;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y = W_O concatₕ(softmax(qₕ Kₕᵀ / √d) Vₕ) + b_O, with q = W_Q x + b_Q, k = W_K x + b_K, v = W_V x + b_V
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token, before and after |
/// | h | | one of `HEADS` heads; it works on its own d columns of q, k and v |
/// | d | 1 | `D_MODEL` / `HEADS` |
/// | K, V | n x `D_MODEL` | keys and values of the n tokens that the token sees, by the family's [`Mask`] |
/// | W_Q, W_K, W_V, W_O | `D_MODEL` x `D_MODEL` | [`query`](Self::query), [`key`](Self::key), [`value`](Self::value), [`output`](Self::output) |
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
    structure: |fingerprint| fingerprint.name("attention").number(HEADS).number(F::Mask::CAUSAL as usize);
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
        scratch: &mut AttentionScratch<D_MODEL, SEQ_LEN, TILE>,
    ) {
        let (len, rows) = (x.len(), AttentionScratch::<D_MODEL, SEQ_LEN, TILE>::ROWS);
        for (tile, x) in x.tokens().chunks(rows).enumerate() {
            self.remember(x, tile * rows, &mut scratch.key_values);
        }
        for (tile, x) in x.tokens_mut().chunks_mut(rows).enumerate() {
            self.attend(x, tile * rows, len, scratch);
            self.project(scratch.context(x.len()), Store::<D_MODEL, Identity>::to(x));
        }
    }

    /// Writes the keys and values of the tokens `x`, which begin at `position`.
    pub(crate) fn remember<const SEQ_LEN: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        position: usize,
        key_values: &mut KeyValues<D_MODEL, SEQ_LEN>,
    ) {
        let KeyValues { keys, values } = key_values;
        self.key.multiply(x, Transpose { out: keys, first: position });
        let values = values.get_mut(position..).unwrap_or_default();
        self.value.multiply(x, Store::<D_MODEL, Identity>::to(values));
    }

    /// Leaves in the scratch the context of the tokens `x`, which begin at `position` among the `len` with keys and values.
    pub(crate) fn attend<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &[[f32; D_MODEL]],
        position: usize,
        len: usize,
        scratch: &mut AttentionScratch<D_MODEL, SEQ_LEN, TILE>,
    ) {
        let AttentionScratch { key_values, query, scores, scale } = scratch;
        let rows = x.len().min(TILE);
        let query = query.get_mut(..rows).unwrap_or_default();
        self.query.multiply(x, Store::<D_MODEL, Identity>::to(query));
        dispatch(Attend::<F::Mask, D_MODEL, SEQ_LEN> {
            query,
            scores: scores.get_mut(..rows).unwrap_or_default(),
            scale,
            key_values,
            position,
            len,
            d_head: Self::D_HEAD,
            mask: PhantomData,
        });
    }

    /// Hands W_O context + b_O to `then`.
    pub(crate) fn project(&self, context: &[[f32; D_MODEL]], then: impl Epilogue) {
        self.output.multiply(context, then);
    }
}
