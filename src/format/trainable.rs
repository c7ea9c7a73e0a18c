//! Formats whose weights can be trained.

use super::{Format, Panels};
use crate::{
    kernel::{Add, OuterProducts, PANEL, TransposedProduct, is_scalar},
    machine::{Machine, Work, dispatch},
    shape::{KnownWidth, Width},
};

/// A format of weights that can be trained: `f32`. Integers are what a trained model is quantised to.
#[diagnostic::on_unimplemented(
    message = "a model whose weights are `{Self}` cannot be trained",
    label = "`f32` is wanted here",
    note = "train a model of `f32`, the default, then `quantize` it"
)]
pub trait TrainableFormat: Format<Number = f32, KeyValues = f32, Stream = f32> {
    /// The format of the gradients.
    type Gradient: Format<Number = f32, KeyValues = f32, Stream = f32>;

    /// ∂x = ∂x + Wᵀ ∂y
    #[doc(hidden)]
    fn add_backward<const IN: usize, const OUT: usize>(
        weight: &Self::Matrix<IN, OUT>,
        dy: &[[f32; OUT]],
        dx: &mut [[f32; IN]],
    ) where
        Width<IN>: KnownWidth;

    /// ∂W = ∂W + Σ ∂y xᵀ
    #[doc(hidden)]
    fn add_gradient<const IN: usize, const OUT: usize>(
        weight: &Self::Matrix<IN, OUT>,
        x: &[[f32; IN]],
        dy: &[[f32; OUT]],
        gradient: &mut <Self::Gradient as Format>::Matrix<IN, OUT>,
    ) where
        Width<IN>: KnownWidth;
}

impl TrainableFormat for f32 {
    type Gradient = Self;

    fn add_backward<const IN: usize, const OUT: usize>(
        weight: &Panels<IN, OUT>,
        dy: &[[f32; OUT]],
        dx: &mut [[f32; IN]],
    ) where
        Width<IN>: KnownWidth,
    {
        weight.add_backward(dy, dx);
    }

    fn add_gradient<const IN: usize, const OUT: usize>(
        _: &Panels<IN, OUT>,
        x: &[[f32; IN]],
        dy: &[[f32; OUT]],
        gradient: &mut Panels<IN, OUT>,
    ) where
        Width<IN>: KnownWidth,
    {
        gradient.add_gradient(x, dy);
    }
}

impl<const IN: usize, const OUT: usize> Panels<IN, OUT> {
    /// ∂x = ∂x + Wᵀ ∂y
    #[inline(never)]
    pub(crate) fn add_backward(&self, dy: &[[f32; OUT]], dx: &mut [[f32; IN]]) {
        dispatch(Backward { w: self, dy, dx });
    }

    /// ∂W = ∂W + Σ ∂y xᵀ, where this is ∂W
    #[inline(never)]
    pub(crate) fn add_gradient(&mut self, x: &[[f32; IN]], dy: &[[f32; OUT]]) {
        dispatch(Gradient { x, dy, dw: self });
    }
}

/// The outputs of each panel of `OUT`: which is the first, and how many.
fn panels<const OUT: usize>() -> impl Iterator<Item = (usize, usize)> {
    (0..OUT).step_by(PANEL).map(|first| (first, PANEL.min(OUT - first)))
}

struct Backward<'a, const IN: usize, const OUT: usize> {
    w: &'a Panels<IN, OUT>,
    dy: &'a [[f32; OUT]],
    dx: &'a mut [[f32; IN]],
}

impl<const IN: usize, const OUT: usize> Work for Backward<'_, IN, OUT> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { w, dy: x, dx } = self;
        let whole = OUT / PANEL * PANEL;
        let (panels, narrow) = w.numbers().split_at_checked(whole * IN).unwrap_or_default();
        for (w, inputs, stride) in [(panels, 0..whole, PANEL), (narrow, whole..OUT, OUT - whole)] {
            TransposedProduct { x, inputs, w, stride, panel: IN * PANEL, rows: IN }.run(m, &mut Add(dx));
        }
    }
}

/// Rows of gradients that lie together for a while, on the stack.
const ROWS: usize = 64;

struct Gradient<'a, const IN: usize, const OUT: usize> {
    x: &'a [[f32; IN]],
    dy: &'a [[f32; OUT]],
    dw: &'a mut Panels<IN, OUT>,
}

impl<const IN: usize, const OUT: usize> Work for Gradient<'_, IN, OUT> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { x, dy: y, dw } = self;
        for (from, columns) in panels::<OUT>() {
            let w = dw.numbers_mut().get_mut(from * IN..).unwrap_or_default();
            if const { is_scalar::<M>() || OUT <= PANEL } {
                OuterProducts { x, inputs: 0..IN, y, from, columns }.add_to(m, w, columns);
                continue;
            }
            // Rows whose distance is a power of two would drive one another out of the cache.
            for (x, y) in x.chunks(ROWS).zip(y.chunks(ROWS)) {
                let mut near = [[0.0; PANEL]; ROWS];
                for (near, y) in near.iter_mut().zip(y) {
                    let y = y.get(from..from + columns).unwrap_or_default();
                    near.iter_mut().zip(y).for_each(|(near, y)| *near = *y);
                }
                OuterProducts { x, inputs: 0..IN, y: &near, from: 0, columns }.add_to(m, w, columns);
            }
        }
    }
}
