//! Attention whose heads share keys and values.

use super::{AttentionScratch, Projections, TrainableProjections, forward};
use crate::{
    cost::Macs,
    family::Family,
    format::{Format, TrainableFormat},
    kernel::Epilogue,
    linear::Linear,
    mask::Mask,
    parameters, rotation,
    sequence::Sequence,
    shape::{SharedBy, Width},
};
use core::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// As [`MultiHeadAttention`](crate::MultiHeadAttention), but `KV_HEADS` heads of key and value serve `HEADS` heads of the
/// query: y = W_O concatₕ(softmax(qₕ K_gᵀ / √d) V_g) + b_O with g = ⌊h `KV_HEADS` / `HEADS`⌋
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | `D_MODEL` | a token, before and after |
/// | d | 1 | columns of a head, `D_MODEL` / `HEADS` |
/// | W_Q, W_O | `D_MODEL` x `D_MODEL` | `query`, `output` |
/// | W_K, W_V | `D_KV` x `D_MODEL` | `key`, `value`; `D_KV` is `KV_HEADS` d |
///
/// So a cache of keys and values is `HEADS` / `KV_HEADS` times smaller. The bound `Width<D_MODEL>: SharedBy<HEADS, KV_HEADS,
/// D_KV>` checks that the numbers belong together. With `KV_HEADS` = `HEADS` it is multi-head attention, with one,
/// multi-query attention.
///
/// Ainslie et al., [GQA](https://arxiv.org/abs/2305.13245), 2023. PyTorch: `scaled_dot_product_attention(enable_gqa=True)`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct GroupedQueryAttention<
    F: Family,
    const D_MODEL: usize,
    const HEADS: usize,
    const KV_HEADS: usize,
    const D_KV: usize,
    T: Format = f32,
> where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
{
    /// W_Q, b_Q
    pub query: Linear<D_MODEL, D_MODEL, T, F::InputBias>,
    /// W_K, b_K
    pub key: Linear<D_MODEL, D_KV, T, F::InputBias>,
    /// W_V, b_V
    pub value: Linear<D_MODEL, D_KV, T, F::InputBias>,
    /// W_O, b_O
    pub output: Linear<D_MODEL, D_MODEL, T, F::OutputBias>,
    family: PhantomData<F>,
}

parameters! {
    [F: Family, const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize, T: Format]
    GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T> { query, key, value, output, family }
    where { Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV> }
    structure: |fingerprint| rotation::fingerprint::<F::Rotation>(
        fingerprint.name("attention").number(HEADS).number(F::Mask::CAUSAL as usize)
    );
}

impl<F: Family, const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize, T: Format>
    GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
{
    pub(crate) const MACS: Macs = Macs::per_token(2 * (D_MODEL * (D_MODEL + D_KV)) as u64)
        .and(Macs::per_pair(2 * D_MODEL as u64, F::Mask::CAUSAL));

    /// Replaces every token by y.
    pub fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        scratch: &mut AttentionScratch<D_MODEL, SEQ_LEN, TILE, D_KV, T::KeyValues>,
    ) where
        T: Format<Number = f32>,
    {
        forward(self, x, scratch);
    }
}

impl<F: Family, const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize, T: Format>
    Projections<D_MODEL, D_KV> for GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
{
    type Number = T::Number;
    type Mask = F::Mask;
    type Rotation = F::Rotation;
    type KeyValues = T::KeyValues;
    type Stream = T::Stream;

    const D_HEAD: usize = D_MODEL / HEADS;
    const GROUP: usize = HEADS / KV_HEADS;

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

impl<F: Family, const D_MODEL: usize, const HEADS: usize, const KV_HEADS: usize, const D_KV: usize, T: TrainableFormat>
    TrainableProjections<D_MODEL, D_KV> for GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T>
where
    Width<D_MODEL>: SharedBy<HEADS, KV_HEADS, D_KV>,
{
    type Gradient = GroupedQueryAttention<F, D_MODEL, HEADS, KV_HEADS, D_KV, T::Gradient>;

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
        [d_keys, d_values]: [&[[f32; D_KV]]; 2],
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
