//! Layer normalisation and root mean square normalisation.

use crate::{D_MODEL, config};
use constformer::{laws, *};
use proptest::prelude::*;
use typenum::{U5, U6, U12};

/// A factor of 10⁻² to 10².
fn factor() -> impl Strategy<Value = f32> {
    (-2.0_f32..2.0).prop_map(|exponent| 10.0_f32.powf(exponent))
}

fn layer_norm<const D: usize, E: Exponent>(tokens: &[[f32; D]], shift: f32, factor: f32, seed: u64) -> laws::Law {
    let (one, epsilon) = (LayerNorm::<D, E>::ONE, LayerNorm::<D, E>::EPSILON);
    laws::layer_norm::moments(&one, epsilon, tokens)?;
    laws::layer_norm::idempotence(&one, epsilon, tokens)?;
    laws::norm::odd(&one, tokens)?;
    laws::norm::bounded(&one, tokens)?;
    let norm = laws::model::<LayerNorm<D, E>>(seed);
    laws::layer_norm::shift(&*norm, epsilon, shift, tokens)?;
    laws::layer_norm::scale(&*norm, epsilon, factor, tokens)?;
    laws::norm::affine(&*norm, &one, &norm.weight, &norm.bias, tokens)?;
    laws::norm::every_token_alone(&*norm, tokens)
}

fn rms_norm<const D: usize, E: Exponent>(tokens: &[[f32; D]], factor: f32, seed: u64) -> laws::Law {
    let (one, epsilon) = (RmsNorm::<D, E>::ONE, RmsNorm::<D, E>::EPSILON);
    laws::rms_norm::mean_square(&one, epsilon, tokens)?;
    laws::norm::bounded(&one, tokens)?;
    let norm = laws::model::<RmsNorm<D, E>>(seed);
    laws::rms_norm::scale(&*norm, epsilon, factor, tokens)?;
    laws::norm::odd(&*norm, tokens)?;
    laws::norm::affine(&*norm, &one, &norm.weight, &[0.0; D], tokens)?;
    laws::norm::every_token_alone(&*norm, tokens)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn layer_norms(tokens in laws::tokens::<D_MODEL>(0..=5), shift in -100.0_f32..100.0, factor in factor(), seed: u64) {
        layer_norm::<D_MODEL, U5>(&tokens, shift, factor, seed)?;
        layer_norm::<D_MODEL, U12>(&tokens, shift, factor, seed)?;
    }

    #[test]
    fn layer_norms_of_extremes(
        tokens in laws::extreme_tokens::<D_MODEL>(0..=5), shift in -100.0_f32..100.0, factor in factor(), seed: u64,
    ) {
        layer_norm::<D_MODEL, U5>(&tokens, shift, factor, seed)?;
        layer_norm::<D_MODEL, U12>(&tokens, shift, factor, seed)?;
    }

    #[test]
    fn layer_norms_of_whole_vectors(tokens in laws::tokens::<64>(0..=5), shift in -9.0_f32..9.0, factor in factor(), seed: u64) {
        layer_norm::<64, U5>(&tokens, shift, factor, seed)?;
    }

    #[test]
    fn layer_norms_without_bias(tokens in laws::tokens::<D_MODEL>(1..=5), seed: u64) {
        type WithoutBias = LayerNorm<D_MODEL, U5, NoBias>;
        let norm = laws::model::<WithoutBias>(seed);
        laws::norm::affine(&*norm, &WithoutBias::ONE, &norm.weight, &[0.0; D_MODEL], &tokens)?;
        laws::norm::odd(&*norm, &tokens)?;
    }

    #[test]
    fn rms_norms(tokens in laws::tokens::<D_MODEL>(0..=5), factor in factor(), seed: u64) {
        rms_norm::<D_MODEL, U6>(&tokens, factor, seed)?;
    }

    #[test]
    fn rms_norms_of_extremes(tokens in laws::extreme_tokens::<D_MODEL>(0..=5), factor in factor(), seed: u64) {
        rms_norm::<D_MODEL, U6>(&tokens, factor, seed)?;
    }

    #[test]
    fn rms_norms_of_whole_vectors(tokens in laws::tokens::<64>(0..=5), factor in factor(), seed: u64) {
        rms_norm::<64, U6>(&tokens, factor, seed)?;
    }
}
