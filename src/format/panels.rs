//! Matrices of `f32` in the order in which they are read.

use super::Matrix;
use crate::{
    kernel::{Epilogue, FewRows, PANEL, Product, ScalarPanels, is_scalar},
    machine::{Machine, Work, dispatch},
    message::Message,
    parameters::{self, Fingerprint, Layout, Name, Numbers, NumbersMut, Parameters, Shape, Tensor, Visit, VisitMut},
    plain::Zero,
};
use core::fmt;
use nalgebra::SMatrix;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A matrix of `IN` inputs and `OUT` outputs in panels of 32 outputs, each input by input; the outputs left over make a
/// narrower one. So there are exactly `IN` x `OUT` numbers, and the kernel reads them one after the other.
///
/// Matrices as people know them go in and out by [`copy_from_out_in`](Self::copy_from_out_in) (PyTorch's),
/// [`copy_from_in_out`](Self::copy_from_in_out) (the papers', x W) and [`copy_from_matrix`](Self::copy_from_matrix)
/// (`nalgebra`, W x).
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Panels<const IN: usize, const OUT: usize>([[f32; OUT]; IN]);

/// Where the weight from `input` to `output` is stored.
pub(crate) const fn position(inputs: usize, outputs: usize, input: usize, output: usize) -> usize {
    let first = output / PANEL * PANEL;
    let width = if outputs - first < PANEL { outputs - first } else { PANEL };
    first * inputs + input * width + (output - first)
}

impl<const IN: usize, const OUT: usize> Panels<IN, OUT> {
    /// The weight from input `input` to output `output`; `None` if there is no such weight.
    #[must_use]
    pub fn get(&self, input: usize, output: usize) -> Option<f32> {
        self.tensor().get(output, input)
    }

    /// Sets the weight from input `input` to output `output`. Outside of the matrix there is nothing to set.
    pub fn set(&mut self, input: usize, output: usize, weight: f32) {
        self.tensor_mut().set(output, input, weight);
    }

    /// Becomes the matrix W of y = x W: `[in_features, out_features]`, row by row.
    pub fn copy_from_in_out(&mut self, weights: &[[f32; OUT]; IN]) {
        self.fill(|input, output| weights[input][output]);
    }

    /// Becomes the `weight` of PyTorch's `nn.Linear`: `[out_features, in_features]`, row by row.
    pub fn copy_from_out_in(&mut self, weights: &[[f32; IN]; OUT]) {
        self.fill(|input, output| weights[output][input]);
    }

    /// Becomes the matrix W of y = W x.
    pub fn copy_from_matrix(&mut self, weights: &SMatrix<f32, OUT, IN>) {
        self.fill(|input, output| weights[(output, input)]);
    }

    /// Writes the matrix W of y = W x.
    pub fn copy_to_matrix(&self, weights: &mut SMatrix<f32, OUT, IN>) {
        for (input, column) in weights.data.0.iter_mut().enumerate() {
            for (output, weight) in column.iter_mut().enumerate() {
                *weight = self.0.as_flattened()[position(IN, OUT, input, output)];
            }
        }
    }

    /// The weights in the order of storage.
    pub(super) const fn numbers(&self) -> &[f32] {
        self.0.as_flattened()
    }

    /// The weights in the order of storage, to be changed.
    pub(super) const fn numbers_mut(&mut self) -> &mut [f32] {
        self.0.as_flattened_mut()
    }

    fn fill(&mut self, weight: impl Fn(usize, usize) -> f32) {
        for input in 0..IN {
            for output in 0..OUT {
                self.0.as_flattened_mut()[position(IN, OUT, input, output)] = weight(input, output);
            }
        }
    }

    fn tensor(&self) -> Tensor<Numbers<'_>> {
        Tensor {
            frozen: false,
            shape: Shape::Matrix([OUT, IN]),
            layout: Layout::Panels,
            numbers: self.0.as_flattened().into(),
        }
    }

    fn tensor_mut(&mut self) -> Tensor<NumbersMut<'_>> {
        Tensor {
            frozen: false,
            shape: Shape::Matrix([OUT, IN]),
            layout: Layout::Panels,
            numbers: self.0.as_flattened_mut().into(),
        }
    }
}

struct Multiply<'a, E, const IN: usize, const OUT: usize> {
    x: &'a [[f32; IN]],
    w: &'a Panels<IN, OUT>,
    then: E,
}

impl<E: Epilogue, const IN: usize, const OUT: usize> Work for Multiply<'_, E, IN, OUT> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { x, w, mut then } = self;
        let narrow = OUT % PANEL;
        let (whole, rest) = w.0.as_flattened().split_at_checked(IN * (OUT - narrow)).unwrap_or_default();
        // What a matrix has not is not compiled either.
        if const { OUT >= PANEL && is_scalar::<M>() } {
            ScalarPanels { x, panels: whole }.run(m, &mut then);
        } else if const { OUT >= PANEL } {
            let few = const { M::VECTORS == 2 } && x.len() < 4;
            let done = if few { FewRows { x, panels: whole }.run::<M, OUT>(m, &mut then) } else { 0 };
            for (panel, w) in whole.chunks_exact((IN * PANEL).max(1)).enumerate().skip(done) {
                let first = panel * PANEL;
                let next = whole.get((first + PANEL) * IN..).unwrap_or_default();
                let next = next.get(..IN * PANEL).unwrap_or(rest);
                let (inputs, stride) = (0..IN, PANEL);
                let product = Product::<_, PANEL> { x, inputs, w, stride, from: 0, columns: PANEL, first, next };
                product.run(m, &mut then);
            }
        }
        if const { !OUT.is_multiple_of(PANEL) } {
            let (inputs, stride, columns, first) = (0..IN, narrow, narrow, OUT - narrow);
            let product = Product::<_, PANEL> { x, inputs, w: rest, stride, from: 0, columns, first, next: &[] };
            if const { OUT % PANEL > M::LANES } {
                product.run(m, &mut then);
            } else {
                product.strips::<M, 1>(m, &mut then);
            }
        }
    }
}

impl<const IN: usize, const OUT: usize> Matrix<IN, OUT> for Panels<IN, OUT> {
    #[inline(never)]
    fn multiply(&self, x: &[[f32; IN]], then: impl Epilogue) {
        const {
            if IN == 0 {
                Message::new().text("a matrix of ").number(IN).text(" inputs: it must have at least one").panic();
            }
        }
        dispatch(Multiply { x, w: self, then });
    }
}

impl<const IN: usize, const OUT: usize> Zero for Panels<IN, OUT> {
    const ZERO: Self = Self(Zero::ZERO);
}

impl<const IN: usize, const OUT: usize> fmt::Debug for Panels<IN, OUT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parameters::debug::<Self>(f)
    }
}

impl<const IN: usize, const OUT: usize> Parameters for Panels<IN, OUT> {
    const COUNT: usize = IN * OUT;
    const FINGERPRINT: Fingerprint = Fingerprint::of("panels").number(IN).number(OUT);
    const STRUCTURE: Fingerprint = super::structure(IN, OUT);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        visit(name, self.tensor());
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        visit(name, self.tensor_mut());
    }
}
