//! Matrices of `f32` in the order in which they are read.

use super::Matrix;
use crate::{
    kernel::{Epilogue, PANEL, Product},
    machine::{Machine, Work, dispatch},
    message::Message,
    parameters::{self, Fingerprint, Layout, Name, Parameters, Shape, Tensor, Visit, VisitMut},
    plain::Zero,
};
use core::fmt;
use nalgebra::SMatrix;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A matrix of `IN` inputs and `OUT` outputs in panels of 32 outputs, each input by input; outputs left over make panels of
/// 16, 8, 4, 2 and 1. So there are exactly `IN` x `OUT` numbers, and the kernel reads them one after the other.
///
/// Matrices as people know them go in and out by [`copy_from_out_in`](Self::copy_from_out_in) (PyTorch's),
/// [`copy_from_in_out`](Self::copy_from_in_out) (the papers', x W) and [`copy_from_matrix`](Self::copy_from_matrix)
/// (`nalgebra`, W x).
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Panels<const IN: usize, const OUT: usize>([[f32; OUT]; IN]);

/// Where the weight from `input` to `output` is stored.
pub(crate) const fn position(inputs: usize, outputs: usize, input: usize, output: usize) -> usize {
    let (mut first, mut width) = (0, PANEL);
    loop {
        let end = first + (outputs - first) / width * width;
        if output < end || width == 1 {
            let panel = first + (output - first) / width * width;
            return panel * inputs + input * width + (output - panel);
        }
        (first, width) = (end, width / 2);
    }
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

    fn fill(&mut self, weight: impl Fn(usize, usize) -> f32) {
        for input in 0..IN {
            for output in 0..OUT {
                self.0.as_flattened_mut()[position(IN, OUT, input, output)] = weight(input, output);
            }
        }
    }

    fn tensor(&self) -> Tensor<&[f32]> {
        Tensor { shape: Shape::Matrix([OUT, IN]), layout: Layout::Panels, values: self.0.as_flattened() }
    }

    fn tensor_mut(&mut self) -> Tensor<&mut [f32]> {
        Tensor { shape: Shape::Matrix([OUT, IN]), layout: Layout::Panels, values: self.0.as_flattened_mut() }
    }

    /// The panels of width `W`: as many as there is room for after those of twice the width.
    #[inline(always)]
    fn panels<M: Machine, const W: usize>(&self, m: M, x: &[[f32; IN]], then: &mut impl Epilogue) {
        let first = if W == PANEL { 0 } else { OUT / (2 * W) * (2 * W) };
        let (rows, _) = self.0.as_flattened().get(first * IN..).unwrap_or_default().as_chunks::<W>();
        for (panel, w) in rows.chunks_exact(IN.max(1)).take((OUT - first) / W).enumerate() {
            Product { x, inputs: 0..IN, w, columns: 0..W, first: first + panel * W }.run::<M, true>(m, then);
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
    fn run<M: Machine>(mut self, m: M) {
        self.w.panels::<M, PANEL>(m, self.x, &mut self.then);
        if const { OUT & 16 != 0 } {
            self.w.panels::<M, 16>(m, self.x, &mut self.then);
        }
        if const { OUT & 8 != 0 } {
            self.w.panels::<M, 8>(m, self.x, &mut self.then);
        }
        if const { OUT & 4 != 0 } {
            self.w.panels::<M, 4>(m, self.x, &mut self.then);
        }
        if const { OUT & 2 != 0 } {
            self.w.panels::<M, 2>(m, self.x, &mut self.then);
        }
        if const { OUT & 1 != 0 } {
            self.w.panels::<M, 1>(m, self.x, &mut self.then);
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

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        visit(name, self.tensor());
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        visit(name, self.tensor_mut());
    }
}
