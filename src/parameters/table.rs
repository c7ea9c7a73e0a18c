//! A table of rows: the weights of an embedding.

use super::{Fingerprint, Layout, Name, Parameters, Shape, Tensor, Visit, VisitMut};
use crate::plain::Zero;
use core::fmt;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// `ROWS` vectors of `COLUMNS` numbers, row by row, as `nn.Embedding` of PyTorch has them.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Table<const ROWS: usize, const COLUMNS: usize> {
    /// The rows.
    pub rows: [[f32; COLUMNS]; ROWS],
}

impl<const ROWS: usize, const COLUMNS: usize> Zero for Table<ROWS, COLUMNS> {
    const ZERO: Self = Self { rows: Zero::ZERO };
}

impl<const ROWS: usize, const COLUMNS: usize> fmt::Debug for Table<ROWS, COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::debug::<Self>(f)
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Parameters for Table<ROWS, COLUMNS> {
    const COUNT: usize = ROWS * COLUMNS;
    const FINGERPRINT: Fingerprint = Fingerprint::of("table").number(ROWS).number(COLUMNS);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        let (shape, layout) = (Shape::Matrix([ROWS, COLUMNS]), Layout::RowMajor);
        visit(name, Tensor { frozen: false, shape, layout, numbers: self.rows.as_flattened().into() });
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        let (shape, layout) = (Shape::Matrix([ROWS, COLUMNS]), Layout::RowMajor);
        visit(name, Tensor { frozen: false, shape, layout, numbers: self.rows.as_flattened_mut().into() });
    }
}
