//! Adapters of low rank.

use super::{Format, Matrix, Panels, TrainableFormat};
use crate::{
    activation::Identity,
    kernel::{Epilogue, LowRank, Store},
    parameters::{self, Fingerprint, Layout, Name, Parameters, Shape, Tensor, Visit, VisitMut},
    plain::Zero,
    shape::{KnownWidth, Width},
};
use core::fmt;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// W + B A in place of every matrix W of linear maps: W stays as it is, and only A and B are trained, and biases and norms
///
/// | symbol | shape | is |
/// |---|---|---|
/// | W | out x in | the matrix of a trained model; it has no gradient and no moments |
/// | A, B | r x in, out x r | `down` and `up` |
/// | r | 1 | `RANK` |
///
/// So a gradient of `Encoder<Bert, 6, 384, 1536, 12, Lora<8>>` has 4 % of the numbers of the model's. [`adapt`](crate::training::adapt) makes
/// such a model of a trained one; [`merge`](crate::training::merge) makes a plain one of it again. Of rank 0, only biases and norms are
/// trained, which is known as BitFit.
///
/// Hu et al., [LoRA](https://arxiv.org/abs/2106.09685), 2021; Ben Zaken et al., [BitFit](https://arxiv.org/abs/2106.10199), 2021. Hugging
/// Face: `peft.LoraConfig(r=RANK, lora_alpha=RANK, bias="all")`.
#[derive(Clone, Copy, Debug)]
pub struct Lora<const RANK: usize>;

/// The gradients of [`Lora`]: a format without W.
#[derive(Clone, Copy, Debug)]
pub struct LoraGradient<const RANK: usize>;

impl<const RANK: usize> Format for Lora<RANK> {
    type Number = f32;
    type Matrix<const IN: usize, const OUT: usize>
        = LoraMatrix<IN, OUT, RANK>
    where
        Width<IN>: KnownWidth;
    type KeyValues = f32;
    type Stream = f32;
}

impl<const RANK: usize> Format for LoraGradient<RANK> {
    type Number = f32;
    type Matrix<const IN: usize, const OUT: usize>
        = LoraGradientMatrix<IN, OUT, RANK>
    where
        Width<IN>: KnownWidth;
    type KeyValues = f32;
    type Stream = f32;
}

/// A matrix of `IN` inputs and `OUT` outputs in the format [`Lora`].
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LoraMatrix<const IN: usize, const OUT: usize, const RANK: usize> {
    /// W
    pub base: Panels<IN, OUT>,
    /// A
    pub down: Panels<IN, RANK>,
    /// Bᵀ
    pub up: [[f32; OUT]; RANK],
}

/// The gradients of a [`LoraMatrix`].
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LoraGradientMatrix<const IN: usize, const OUT: usize, const RANK: usize> {
    /// That of A.
    pub down: Panels<IN, RANK>,
    /// That of Bᵀ.
    pub up: [[f32; OUT]; RANK],
}

/// Rows that go through the low rank at a time: they lie on the stack.
const ROWS: usize = 16;

impl<const IN: usize, const OUT: usize, const RANK: usize> Matrix<IN, OUT> for LoraMatrix<IN, OUT, RANK> {
    fn multiply(&self, x: &[[f32; IN]], mut then: impl Epilogue) {
        for (i, x) in x.chunks(ROWS).enumerate() {
            let (z, u) = (&low(&self.down, x), &self.up);
            self.base.multiply(x, LowRank { z, u, first: i * ROWS, then: &mut then });
        }
    }
}

/// Only models in training are multiplied with.
impl<const IN: usize, const OUT: usize, const RANK: usize> Matrix<IN, OUT> for LoraGradientMatrix<IN, OUT, RANK> {
    fn multiply(&self, _: &[[f32; IN]], _: impl Epilogue) {}
}

/// A x, of up to 16 rows.
fn low<const IN: usize, const RANK: usize>(down: &Panels<IN, RANK>, x: &[[f32; IN]]) -> [[f32; RANK]; ROWS] {
    let mut z = [[0.0; RANK]; ROWS];
    if RANK > 0 {
        down.multiply(x, Store::<RANK, Identity>::to(&mut z));
    }
    z
}

impl<const IN: usize, const OUT: usize, const RANK: usize> LoraMatrix<IN, OUT, RANK> {
    /// The gradients of A x, of up to 16 rows: Bᵀ ∂y
    fn d_low(&self, dy: &[[f32; OUT]]) -> [[f32; RANK]; ROWS] {
        let mut dz = [[0.0; RANK]; ROWS];
        for (dz, dy) in dz.iter_mut().zip(dy) {
            for (dz, up) in dz.iter_mut().zip(&self.up) {
                *dz = up.iter().zip(dy).map(|(up, dy)| up * dy).sum::<f32>();
            }
        }
        dz
    }
}

impl<const RANK: usize> TrainableFormat for Lora<RANK> {
    type Gradient = LoraGradient<RANK>;

    fn add_backward<const IN: usize, const OUT: usize>(
        weight: &LoraMatrix<IN, OUT, RANK>,
        dy: &[[f32; OUT]],
        dx: &mut [[f32; IN]],
    ) where
        Width<IN>: KnownWidth,
    {
        weight.base.add_backward(dy, dx);
        for (dy, dx) in dy.chunks(ROWS).zip(dx.chunks_mut(ROWS)) {
            let dz = weight.d_low(dy);
            weight.down.add_backward(dz.get(..dy.len()).unwrap_or_default(), dx);
        }
    }

    /// ∂A = Σ ∂z xᵀ and ∂B = Σ ∂y zᵀ, where z = A x
    fn add_gradient<const IN: usize, const OUT: usize>(
        weight: &LoraMatrix<IN, OUT, RANK>,
        x: &[[f32; IN]],
        dy: &[[f32; OUT]],
        gradient: &mut LoraGradientMatrix<IN, OUT, RANK>,
    ) where
        Width<IN>: KnownWidth,
    {
        for (x, dy) in x.chunks(ROWS).zip(dy.chunks(ROWS)) {
            let (z, dz) = (low(&weight.down, x), weight.d_low(dy));
            gradient.down.add_gradient(x, dz.get(..x.len()).unwrap_or_default());
            for (z, dy) in z.iter().zip(dy) {
                for (z, d_up) in z.iter().zip(&mut gradient.up) {
                    d_up.iter_mut().zip(dy).for_each(|(d_up, dy)| *d_up += z * dy);
                }
            }
        }
    }
}

macro_rules! parameters_of {
    ($([$($generics:tt)*] $matrix:ty, $name:literal { $($base:ident)? };)*) => { $(
        impl<$($generics)*> Zero for $matrix {
            const ZERO: Self = Self { $($base: Zero::ZERO,)? down: Zero::ZERO, up: Zero::ZERO };
        }

        impl<$($generics)*> fmt::Debug for $matrix {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                parameters::debug::<Self>(f)
            }
        }

        impl<$($generics)*> Parameters for $matrix {
            const COUNT: usize = size_of::<Self>() / size_of::<f32>();
            const FINGERPRINT: Fingerprint = Fingerprint::of($name).number(IN).number(OUT).number(RANK);
            const STRUCTURE: Fingerprint = super::structure(IN, OUT).name("lora").number(RANK);

            fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
                $(self.$base.walk(name, &mut |name, tensor| visit(name, Tensor { frozen: true, ..tensor }));)?
                self.down.walk(&name.field("down"), visit);
                let (shape, layout) = (Shape::Matrix([RANK, OUT]), Layout::RowMajor);
                let numbers = self.up.as_flattened().into();
                visit(&name.field("up"), Tensor { frozen: false, shape, layout, numbers });
            }

            fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
                $(self.$base.walk_mut(name, &mut |name, tensor| visit(name, Tensor { frozen: true, ..tensor }));)?
                self.down.walk_mut(&name.field("down"), visit);
                let (shape, layout) = (Shape::Matrix([RANK, OUT]), Layout::RowMajor);
                let numbers = self.up.as_flattened_mut().into();
                visit(&name.field("up"), Tensor { frozen: false, shape, layout, numbers });
            }
        }
    )* };
}

parameters_of! {
    [const IN: usize, const OUT: usize, const RANK: usize] LoraMatrix<IN, OUT, RANK>, "lora" {
        base
    };
    [const IN: usize, const OUT: usize, const RANK: usize] LoraGradientMatrix<IN, OUT, RANK>, "lora gradient" {};
}
