//! From a token to a score for each token that may stand in its place.

use super::{Head, Tied, TokenTable, TrainableHead};
use crate::{
    activation::{Activation, Gelu, TrainableActivation},
    cost::Macs,
    embedding::TrainableEmbedding,
    kernel::Store,
    linear::Linear,
    machine::Single,
    norm::{Exponent, LayerNorm, Norm, TrainableNorm},
    parameters,
    position::add,
    shape::{KnownWidth, Width},
};
use core::marker::PhantomData;
use typenum::U12;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// yᵢ = wᵢ · norm(f(D x + d)) + bᵢ
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | `D_MODEL` | a token that the encoder returned |
/// | D, d | `D_MODEL` x `D_MODEL`, `D_MODEL` | [`dense`](Self::dense) |
/// | f | | the activation `A`, [`Gelu`] by default |
/// | norm | | [`norm`](Self::norm), a [`LayerNorm`] with ε = 10⁻ᴱ, 1e-12 by default |
/// | w | `VOCABULARY` x `D_MODEL` | the table of the embedding |
/// | b | `VOCABULARY` | [`decoder_bias`](Self::decoder_bias) |
/// | y | `VOCABULARY` | logits |
///
/// Hugging Face: `BertLMPredictionHead`, `RobertaLMHead`.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct MaskedHead<const D_MODEL: usize, const VOCABULARY: usize, E: Exponent = U12, A: Activation = Gelu>
where
    Width<D_MODEL>: KnownWidth,
{
    /// D, d
    pub dense: Linear<D_MODEL, D_MODEL>,
    /// norm
    pub norm: LayerNorm<D_MODEL, E>,
    /// b
    pub decoder_bias: [f32; VOCABULARY],
    activation: PhantomData<A>,
}

parameters! {
    [const D_MODEL: usize, const VOCABULARY: usize, E: Exponent, A: Activation] MaskedHead<D_MODEL, VOCABULARY, E, A> {
        dense, norm, decoder_bias, activation
    }
    where { Width<D_MODEL>: KnownWidth }
    structure: |fingerprint| fingerprint.name("masked head").name(A::NAME);
}

impl<const D_MODEL: usize, const VOCABULARY: usize, E: Exponent, A: Activation> MaskedHead<D_MODEL, VOCABULARY, E, A>
where
    Width<D_MODEL>: KnownWidth,
{
    pub(super) const MACS: Macs = Macs::once((D_MODEL * D_MODEL + D_MODEL * VOCABULARY) as u64);

    /// Writes the logits of the token `x`.
    pub fn logits(
        &self,
        embedding: &impl TokenTable<VOCABULARY, D_MODEL>,
        x: &[f32; D_MODEL],
        logits: &mut [f32; VOCABULARY],
    ) {
        let mut hidden = [[0.0; D_MODEL]];
        self.dense.multiply(core::slice::from_ref(x), Store::<D_MODEL, A>::to(&mut hidden));
        self.norm.forward(&mut hidden);
        let [hidden] = hidden;
        Tied.logits(embedding, &hidden, logits);
        for (logit, bias) in logits.iter_mut().zip(&self.decoder_bias) {
            *logit += bias;
        }
    }
}

impl<C, const D_MODEL: usize, const VOCABULARY: usize, E: Exponent, A: Activation> Head<C, D_MODEL, VOCABULARY>
    for MaskedHead<D_MODEL, VOCABULARY, E, A>
where
    C: TokenTable<VOCABULARY, D_MODEL>,
    Width<D_MODEL>: KnownWidth,
{
    const NAME: &'static str = "masked";

    fn logits(&self, embedding: &C, x: &[f32; D_MODEL], logits: &mut [f32; VOCABULARY]) {
        MaskedHead::logits(self, embedding, x, logits);
    }
}

/// With h = D x + d, a = f(h) and n = norm(a): ∂n = wᵀ ∂y, ∂a by the norm, ∂h = f'(h) ⊙ ∂a.
impl<C, const D_MODEL: usize, const VOCABULARY: usize, E: Exponent, A: TrainableActivation>
    TrainableHead<C, D_MODEL, VOCABULARY> for MaskedHead<D_MODEL, VOCABULARY, E, A>
where
    C: TrainableEmbedding<D_MODEL, Gradient: TokenTable<VOCABULARY, D_MODEL>> + TokenTable<VOCABULARY, D_MODEL>,
    Width<D_MODEL>: KnownWidth,
{
    type Gradient = Self;
    /// h, a and n
    type Between<const TILE: usize> = [[[f32; D_MODEL]; TILE]; 3];

    fn forward<const TILE: usize>(
        &self,
        embedding: &C,
        x: &[[f32; D_MODEL]],
        between: &mut [[[f32; D_MODEL]; TILE]; 3],
        logits: &mut [[f32; VOCABULARY]],
    ) {
        let [hidden, activated, normed] = between.each_mut().map(|rows| rows.get_mut(..x.len()).unwrap_or_default());
        self.dense.export(x, hidden);
        self.dense.multiply(x, Store::<D_MODEL, A>::to(activated));
        normed.copy_from_slice(activated);
        self.norm.forward(normed);
        TrainableHead::<C, D_MODEL, VOCABULARY>::forward::<TILE>(&Tied, embedding, normed, &mut [], logits);
        logits.iter_mut().for_each(|logits| add(logits, &self.decoder_bias));
    }

    fn backward<const TILE: usize>(
        &self,
        embedding: &C,
        x: &[[f32; D_MODEL]],
        between: &mut [[[f32; D_MODEL]; TILE]; 3],
        d_logits: &[[f32; VOCABULARY]],
        dx: &mut [[f32; D_MODEL]],
        (gradient, of_embedding): (&mut Self, &mut C::Gradient),
    ) {
        let [hidden, activated, normed] = between.each_mut().map(|rows| rows.get_mut(..x.len()).unwrap_or_default());
        d_logits.iter().for_each(|d_logits| add(&mut gradient.decoder_bias, d_logits));
        let d = &mut *dx; // what is added to is 0 so far, and so room for what lies between
        TrainableHead::<C, D_MODEL, VOCABULARY>::backward::<TILE>(
            &Tied,
            embedding,
            normed,
            &mut [],
            d_logits,
            d,
            (&mut Tied, of_embedding),
        );
        self.norm.backward(activated, d, &mut gradient.norm);
        for (hidden, d) in hidden.as_flattened_mut().iter_mut().zip(d.as_flattened_mut()) {
            *hidden = A::derivative(Single, *hidden) * core::mem::take(d);
        }
        self.dense.backward(x, hidden, dx, &mut gradient.dense);
    }
}
