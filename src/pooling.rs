//! One vector for a whole sequence.

use crate::sequence::{Empty, Sequence};

/// How a sequence becomes one vector: [`FirstToken`] or [`Mean`].
pub trait Pooling: Copy + Send + Sync + 'static {
    /// What tells it from others in the fingerprint of a model.
    const NAME: &'static str;

    /// The vector. It takes the place of the first token, so that it needs no memory of its own.
    ///
    /// # Errors
    ///
    /// [`Empty`] if there is no token.
    fn pool<const D_MODEL: usize, const SEQ_LEN: usize>(
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<&[f32; D_MODEL], Empty>;
}

/// y = x₀: the class token of BERT and ViT
#[derive(Clone, Copy, Debug)]
pub struct FirstToken;

/// y = 1/n Σₚ xₚ over the n tokens in use: sentence embeddings
#[derive(Clone, Copy, Debug)]
pub struct Mean;

impl Pooling for FirstToken {
    const NAME: &'static str = "first token";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize>(
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<&[f32; D_MODEL], Empty> {
        x.tokens().first().ok_or(Empty)
    }
}

impl Pooling for Mean {
    const NAME: &'static str = "mean";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize>(
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<&[f32; D_MODEL], Empty> {
        let scale = 1.0 / x.len() as f32;
        let (first, rest) = x.tokens_mut().split_first_mut().ok_or(Empty)?;
        for token in rest {
            for (sum, x) in first.iter_mut().zip(token) {
                *sum += *x;
            }
        }
        for sum in first.iter_mut() {
            *sum *= scale;
        }
        Ok(first)
    }
}
