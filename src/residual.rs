//! Where the normalisation of a residual connection sits.

use crate::{norm::Norm, number::Number, plain::Zero};
use zerocopy::FromZeros;

/// The placement of the normalisation around a sub-layer f: y = after(x + f(before(x))), one of `before` and `after` being
/// the norm and the other the identity. [`PreLn`] or [`PostLn`].
///
/// Xiong et al., [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745), 2020.
pub trait Placement: Copy + Send + Sync + 'static {
    /// Whether `before` is the norm. PyTorch: `norm_first`.
    const NORM_FIRST: bool;
    /// What training remembers of `SEQ_LEN` tokens that only a norm after a sub-layer needs.
    #[doc(hidden)]
    type Sums<const D_MODEL: usize, const SEQ_LEN: usize>: Zero
        + FromZeros
        + AsRef<[[f32; D_MODEL]]>
        + AsMut<[[f32; D_MODEL]]>
        + Send;
}

/// y = x + f(norm(x)): the residual stream itself is never normalised, so gradients run through it unchanged.
#[derive(Clone, Copy, Debug)]
pub struct PreLn;

/// y = norm(x + f(x)): the placement of the original transformer.
#[derive(Clone, Copy, Debug)]
pub struct PostLn;

impl Placement for PreLn {
    const NORM_FIRST: bool = true;

    type Sums<const D_MODEL: usize, const SEQ_LEN: usize> = [[f32; D_MODEL]; 0];
}

impl Placement for PostLn {
    const NORM_FIRST: bool = false;

    type Sums<const D_MODEL: usize, const SEQ_LEN: usize> = [[f32; D_MODEL]; SEQ_LEN];
}

/// before(x), which is `x` itself or written to `input`.
pub(crate) fn before<'a, P: Placement, N: Number, const D_MODEL: usize>(
    norm: &impl Norm<D_MODEL>,
    x: &'a [[N; D_MODEL]],
    input: &'a mut [[N; D_MODEL]],
) -> &'a [[N; D_MODEL]] {
    if !P::NORM_FIRST {
        return x;
    }
    let input = input.get_mut(..x.len()).unwrap_or_default();
    input.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
    N::normalize(norm, input);
    input
}

/// after(x)
pub(crate) fn after<P: Placement, N: Number, const D_MODEL: usize>(norm: &impl Norm<D_MODEL>, x: &mut [[N; D_MODEL]]) {
    if !P::NORM_FIRST {
        N::normalize(norm, x);
    }
}
