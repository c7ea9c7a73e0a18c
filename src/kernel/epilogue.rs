//! What becomes of a product: small structs, composed by type, that are given vectors of finished sums. So bias,
//! activation, residual connection and scale need no second pass over memory.

use crate::{activation::Activation, bias::Bias as BiasKind, machine::Lanes, number::Number};
use core::marker::PhantomData;

/// What becomes of a product, a vector at a time.
pub trait Epilogue<N: Number = f32> {
    /// `sums` begin with the `count` numbers of row `row` of the product from column `column` on.
    fn store<M: Lanes<Number = N>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector);
}

impl<N: Number, E: Epilogue<N>> Epilogue<N> for &mut E {
    #[inline(always)]
    fn store<M: Lanes<Number = N>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        E::store(self, m, row, column, count, sums);
    }
}

/// The `count` numbers of `row` from `column` on.
#[inline(always)]
fn place<X, const N: usize>(out: &mut [[X; N]], row: usize, column: usize, count: usize) -> Option<&mut [X]> {
    out.get_mut(row)?.get_mut(column..column + count)
}

/// y = f(x w)
pub(crate) struct Store<'a, const N: usize, A, X = f32> {
    out: &'a mut [[X; N]],
    activation: PhantomData<A>,
}

impl<'a, const N: usize, A: Activation, X> Store<'a, N, A, X> {
    pub(crate) fn to(out: &'a mut [[X; N]]) -> Self {
        Self { out, activation: PhantomData }
    }
}

impl<const N: usize, A: Activation, X: Number> Epilogue<X> for Store<'_, N, A, X> {
    #[inline(always)]
    fn store<M: Lanes<Number = X>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        if let Some(y) = place(self.out, row, column, count) {
            m.store(m.activate::<A>(sums), y);
        }
    }
}

/// y = x w, in `f32`, for rows from `first` on
pub(crate) struct Export<'a, const N: usize> {
    pub(crate) out: &'a mut [[f32; N]],
    pub(crate) first: usize,
}

impl<const N: usize, X: Number> Epilogue<X> for Export<'_, N> {
    #[inline(always)]
    fn store<M: Lanes<Number = X>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        if let Some(y) = place(self.out, self.first + row, column, count) {
            m.store_f32(sums, y);
        }
    }
}

/// y = y + x w
pub(crate) struct Add<'a, const N: usize, X = f32>(pub(crate) &'a mut [[X; N]]);

impl<const N: usize, X: Number> Epilogue<X> for Add<'_, N, X> {
    #[inline(always)]
    fn store<M: Lanes<Number = X>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        if let Some(y) = place(self.0, row, column, count) {
            m.store(m.add(m.load(y), sums), y);
        }
    }
}

/// y = y ⊙ x w
pub(crate) struct Multiply<'a, const N: usize, X = f32>(pub(crate) &'a mut [[X; N]]);

impl<const N: usize, X: Number> Epilogue<X> for Multiply<'_, N, X> {
    #[inline(always)]
    fn store<M: Lanes<Number = X>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        if let Some(y) = place(self.0, row, column, count) {
            m.store(m.mul(m.load(y), sums), y);
        }
    }
}

/// y = diag(scale) x w
pub(crate) struct ScaleRows<'a, const N: usize> {
    pub(crate) out: &'a mut [[f32; N]],
    pub(crate) scale: &'a [f32],
}

impl<const N: usize> Epilogue for ScaleRows<'_, N> {
    #[inline(always)]
    fn store<M: Lanes<Number = f32>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        if let (Some(y), Some(scale)) = (place(self.out, row, column, count), self.scale.get(row)) {
            m.store(m.mul(m.splat(*scale), sums), y);
        }
    }
}

/// x w + b, for `then`
pub(crate) struct Bias<'a, E, B: BiasKind, const N: usize> {
    pub(crate) bias: &'a B::Vector<N>,
    pub(crate) then: E,
}

impl<X: Number, E: Epilogue<X>, B: BiasKind, const N: usize> Epilogue<X> for Bias<'_, E, B, N> {
    #[inline(always)]
    fn store<M: Lanes<Number = X>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        self.then.store(m, row, column, count, B::add::<M, N>(m, self.bias, column, count, sums));
    }
}

/// x w + z u, for `then`, to which its rows are those from `first` on; z and u are of low rank
pub(crate) struct LowRank<'a, E, const RANK: usize, const N: usize> {
    pub(crate) z: &'a [[f32; RANK]],
    pub(crate) u: &'a [[f32; N]; RANK],
    pub(crate) first: usize,
    pub(crate) then: E,
}

impl<E: Epilogue, const RANK: usize, const N: usize> Epilogue for LowRank<'_, E, RANK, N> {
    #[inline(always)]
    fn store<M: Lanes<Number = f32>>(&mut self, m: M, row: usize, column: usize, count: usize, sums: M::Vector) {
        let mut sums = sums;
        if let Some(z) = self.z.get(row) {
            for (z, u) in z.iter().zip(self.u) {
                let u = u.get(column..column + count).unwrap_or_default();
                sums = m.add(sums, m.mul(m.splat(*z), m.load(u)));
            }
        }
        self.then.store(m, self.first + row, column, count, sums);
    }
}
