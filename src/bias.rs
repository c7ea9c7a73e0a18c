//! Whether a layer adds a vector of its own.

use crate::{
    machine::{Lanes, Machine, Work, dispatch},
    parameters,
    parameters::Parameters,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// The bias of a layer, as a type: [`WithBias`] or [`NoBias`]. One that is absent takes no memory and no time.
///
/// PyTorch: `bias=True` and `bias=False`.
pub trait Bias: Copy + Send + Sync + 'static {
    /// The numbers.
    type Vector<const N: usize>: Parameters;

    /// x + b, for the `count` numbers from `column` on
    #[doc(hidden)]
    fn add<M: Lanes, const N: usize>(
        m: M,
        bias: &Self::Vector<N>,
        column: usize,
        count: usize,
        x: M::Vector,
    ) -> M::Vector;

    /// ∂b = ∂b + Σ ∂y
    #[doc(hidden)]
    fn add_gradient<const N: usize>(dy: &[[f32; N]], gradient: &mut Self::Vector<N>);
}

/// There is a bias.
#[derive(Clone, Copy, Debug)]
pub struct WithBias;

/// There is none.
#[derive(Clone, Copy, Debug)]
pub struct NoBias;

impl Bias for WithBias {
    type Vector<const N: usize> = [f32; N];

    #[inline(always)]
    fn add<M: Lanes, const N: usize>(m: M, bias: &[f32; N], column: usize, count: usize, x: M::Vector) -> M::Vector {
        match bias.get(column..column + count) {
            Some(bias) => m.add(x, m.load_parameters(bias)),
            None => x,
        }
    }

    fn add_gradient<const N: usize>(dy: &[[f32; N]], gradient: &mut [f32; N]) {
        dispatch(AddRows { rows: dy, to: gradient });
    }
}

impl Bias for NoBias {
    type Vector<const N: usize> = Nothing;

    #[inline(always)]
    fn add<M: Lanes, const N: usize>(_: M, _: &Nothing, _: usize, _: usize, x: M::Vector) -> M::Vector {
        x
    }

    fn add_gradient<const N: usize>(_: &[[f32; N]], _: &mut Nothing) {}
}

/// y = y + Σ x
struct AddRows<'a, const N: usize> {
    rows: &'a [[f32; N]],
    to: &'a mut [f32; N],
}

impl<const N: usize> Work for AddRows<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for row in self.rows {
            self.to.iter_mut().zip(row).for_each(|(to, x)| *to += x);
        }
    }
}

/// No numbers at all.
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Nothing;

parameters! { [] Nothing {} }
