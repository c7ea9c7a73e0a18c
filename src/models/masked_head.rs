//! From a token to a score for each token that may stand in its place.

use super::{Head, Tied, TokenTable};
use crate::{
    activation::{Activation, Gelu},
    cost::Macs,
    kernel::Store,
    linear::Linear,
    norm::{Exponent, LayerNorm, Norm},
    parameters,
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
