//! One vector for a whole sequence.

use crate::{
    sequence::{Empty, Sequence},
    token_format::TokenFormat,
};

/// How a sequence becomes one vector: [`FirstToken`] or [`Mean`].
pub trait Pooling: Copy + Send + Sync + 'static {
    /// What tells it from others in the fingerprint of a model.
    const NAME: &'static str;

    /// The vector.
    ///
    /// # Errors
    ///
    /// [`Empty`] if there is no token.
    fn pool<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[f32; D_MODEL], Empty>;
}

/// y = x₀: the class token of BERT and ViT
#[derive(Clone, Copy, Debug)]
pub struct FirstToken;

/// y = 1/n Σₚ xₚ over the n tokens in use: sentence embeddings
#[derive(Clone, Copy, Debug)]
pub struct Mean;

impl Pooling for FirstToken {
    const NAME: &'static str = "first token";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[f32; D_MODEL], Empty> {
        x.get(0).ok_or(Empty)
    }
}

impl Pooling for Mean {
    const NAME: &'static str = "mean";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[f32; D_MODEL], Empty> {
        let mut mean = x.get(0).ok_or(Empty)?;
        x.read(|first, tokens| {
            for token in tokens.iter().skip(usize::from(first == 0)) {
                for (sum, x) in mean.iter_mut().zip(token) {
                    *sum += *x;
                }
            }
        });
        let scale = 1.0 / x.len() as f32;
        for sum in &mut mean {
            *sum *= scale;
        }
        Ok(mean)
    }
}
