//! Where a tensor of a model comes from.

use crate::parameters::Shape;
use std::{string::String, vec, vec::Vec};

/// A tensor of a checkpoint, or some rows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub(super) name: String,
    rows: Rows,
    transposed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Part { index: usize, of: usize },
    From(usize),
}

impl Origin {
    /// The tensor of that canonical name, all of it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), rows: Rows::From(0), transposed: false }
    }

    /// Only part `index` of `of` parts with as many rows each: query, key or value of a fused projection.
    #[must_use]
    pub fn part(self, index: usize, of: usize) -> Self {
        Self { rows: Rows::Part { index, of }, ..self }
    }

    /// Only the rows from `first` on.
    #[must_use]
    pub fn from_row(self, first: usize) -> Self {
        Self { rows: Rows::From(first), ..self }
    }

    /// A matrix is stored inputs first, `[in_features, out_features]`: what is rows above, is columns there.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { transposed: true, ..self }
    }

    /// The canonical name of the tensor.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The shape in the checkpoint of what is `shape` in the model.
    pub(super) fn shape(&self, shape: Shape) -> Vec<usize> {
        let rows = |n: usize| match self.rows {
            Rows::Part { of, .. } => n.saturating_mul(of),
            Rows::From(first) => n.saturating_add(first),
        };
        match shape {
            Shape::Vector([n]) => vec![rows(n)],
            Shape::Matrix([n, columns]) if self.transposed => vec![columns, rows(n)],
            Shape::Matrix([n, columns]) => vec![rows(n), columns],
        }
    }

    /// The module that has the tensor, a weight, and of its outputs the same rows.
    pub(super) fn module(self) -> Option<Self> {
        Some(Self { name: self.name.strip_suffix(".weight")?.into(), transposed: false, ..self })
    }

    /// Where `n` features begin among the outputs of a module, and how many outputs it has.
    pub(super) fn columns(&self, n: usize) -> [usize; 2] {
        match self.rows {
            Rows::Part { index, of } => [index * n, of * n],
            Rows::From(first) => [first, first + n],
        }
    }

    /// The places in the checkpoint, row-major, of the numbers of the model, row by row.
    pub(super) fn places(&self, shape: Shape) -> impl Iterator<Item = usize> + Clone + use<> {
        let [rows, columns] = match shape {
            Shape::Vector([n]) => [n, 1],
            Shape::Matrix(extent) => extent,
        };
        let first = match self.rows {
            Rows::Part { index, .. } => index * rows,
            Rows::From(first) => first,
        };
        let [row_step, column_step] = match (self.transposed, shape, self.rows) {
            (true, Shape::Matrix(_), Rows::Part { of, .. }) => [1, rows * of],
            (true, Shape::Matrix(_), Rows::From(first)) => [1, rows + first],
            _ => [columns, 1],
        };
        (first..first + rows).flat_map(move |row| (0..columns).map(move |c| row * row_step + c * column_step))
    }
}
