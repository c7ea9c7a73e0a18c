//! Residual connections in training.

use super::Dropout;
use crate::{norm::TrainableNorm, plain::Zero, residual::Placement};
use zerocopy::FromZeros;

/// Room for three sequences.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct ResidualScratch<const D_MODEL: usize, const SEQ_LEN: usize> {
    /// What a sub-layer is given.
    normed: [[f32; D_MODEL]; SEQ_LEN],
    /// What it returns, or the gradient of that.
    out: [[f32; D_MODEL]; SEQ_LEN],
    /// The gradient of what it is given.
    d_normed: [[f32; D_MODEL]; SEQ_LEN],
}

impl<const D_MODEL: usize, const SEQ_LEN: usize> Zero for ResidualScratch<D_MODEL, SEQ_LEN> {
    const ZERO: Self = Self { normed: Zero::ZERO, out: Zero::ZERO, d_normed: Zero::ZERO };
}

impl<const D_MODEL: usize, const SEQ_LEN: usize> ResidualScratch<D_MODEL, SEQ_LEN> {
    /// What a sub-layer is given becomes `x`, and that its normalisation, if there is a `norm`.
    pub(super) fn give<N: TrainableNorm<D_MODEL>>(&mut self, x: &[[f32; D_MODEL]], norm: Option<&N>) {
        let normed = self.normed.get_mut(..x.len()).unwrap_or_default();
        copy(x, normed);
        if let Some(norm) = norm {
            norm.forward(normed);
        }
    }

    /// `x` becomes after(x + dropout(f(before(x)))); `sums` become what `after` is given, if it is a norm. `f` is handed before(x), and
    /// where its output is to go.
    pub(super) fn forward<P: Placement>(
        &mut self,
        norm: &impl TrainableNorm<D_MODEL>,
        x: &mut [[f32; D_MODEL]],
        sums: &mut [[f32; D_MODEL]],
        dropout: Dropout,
        f: impl FnOnce(&[[f32; D_MODEL]], &mut [[f32; D_MODEL]]),
    ) {
        let out = self.out.get_mut(..x.len()).unwrap_or_default();
        if P::NORM_FIRST {
            let normed = self.normed.get_mut(..x.len()).unwrap_or_default();
            copy(x, normed);
            norm.forward(normed);
            f(normed, out);
        } else {
            f(x, out);
        }
        dropout.apply(out, 0);
        add(x, out);
        if !P::NORM_FIRST {
            copy(x, sums);
            norm.forward(x);
        }
    }

    /// `dy`, the gradients of the output, become those of x. `seen` is what the norm was given: x, or the sums; before(x) was
    /// [given](Self::give) before. `f` is handed before(x), the gradient of its output, and what that of before(x) is to be added to.
    pub(super) fn backward<P: Placement, N: TrainableNorm<D_MODEL>>(
        &mut self,
        norm: &N,
        seen: &[[f32; D_MODEL]],
        dy: &mut [[f32; D_MODEL]],
        dropout: Dropout,
        gradient: &mut N,
        f: impl FnOnce(&[[f32; D_MODEL]], &[[f32; D_MODEL]], &mut [[f32; D_MODEL]]),
    ) {
        let Self { normed, out, d_normed } = self;
        let [normed, d_out, d_normed] =
            [normed, out, d_normed].map(|rows| rows.get_mut(..dy.len()).unwrap_or_default());
        if !P::NORM_FIRST {
            norm.backward(seen, dy, gradient);
        }
        copy(dy, d_out);
        dropout.apply(d_out, 0);
        if P::NORM_FIRST {
            d_normed.fill([0.0; D_MODEL]);
            f(normed, d_out, d_normed);
            norm.backward(seen, d_normed, gradient);
            add(dy, d_normed);
        } else {
            f(normed, d_out, dy);
        }
    }
}

/// `to` becomes `from`, as far as both go.
pub(super) fn copy<const D_MODEL: usize>(from: &[[f32; D_MODEL]], to: &mut [[f32; D_MODEL]]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// x = x + y
pub(super) fn add<const D_MODEL: usize>(x: &mut [[f32; D_MODEL]], y: &[[f32; D_MODEL]]) {
    x.as_flattened_mut().iter_mut().zip(y.as_flattened()).for_each(|(x, y)| *x += y);
}
