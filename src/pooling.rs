//! One vector for a whole sequence.

use crate::{
    number::Number,
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

    /// As [`pool`](Self::pool), computed in `N`.
    #[doc(hidden)]
    fn pool_in<N: Number, const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[N; D_MODEL], Empty> {
        Ok(Self::pool(x)?.map(N::from_f32))
    }
}

/// A [`Pooling`] that models can be trained with.
pub trait TrainablePooling: Pooling {
    /// `dx` become the gradients of the tokens, given that of the vector.
    fn backward<const D_MODEL: usize>(dy: &[f32; D_MODEL], dx: &mut [[f32; D_MODEL]]);
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
        Self::pool_in(x)
    }

    fn pool_in<N: Number, const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[N; D_MODEL], Empty> {
        x.load(0).ok_or(Empty)
    }
}

impl TrainablePooling for FirstToken {
    fn backward<const D_MODEL: usize>(dy: &[f32; D_MODEL], dx: &mut [[f32; D_MODEL]]) {
        dx.fill([0.0; D_MODEL]);
        dx.iter_mut().take(1).for_each(|dx| *dx = *dy);
    }
}

impl TrainablePooling for Mean {
    fn backward<const D_MODEL: usize>(dy: &[f32; D_MODEL], dx: &mut [[f32; D_MODEL]]) {
        let scale = 1.0 / dx.len() as f32;
        dx.fill(dy.map(|dy| scale * dy));
    }
}

impl Pooling for Mean {
    const NAME: &'static str = "mean";

    fn pool<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[f32; D_MODEL], Empty> {
        Self::pool_in(x)
    }

    fn pool_in<N: Number, const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat>(
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<[N; D_MODEL], Empty> {
        let mut mean: [N; D_MODEL] = x.load(0).ok_or(Empty)?;
        let mut sums = mean.map(N::sum);
        S::read(x.stored(), |first, tokens: &[[N; D_MODEL]]| {
            for token in tokens.iter().skip(usize::from(first == 0)) {
                for (sum, x) in sums.iter_mut().zip(token) {
                    x.add_to(sum);
                }
            }
        });
        mean.iter_mut().zip(sums).for_each(|(mean, sum)| *mean = N::mean(sum, x.len()));
        Ok(mean)
    }
}
