//! The structure of a model: what `parameters!` knows of a struct.

use crate::{
    Fingerprint, Name,
    parameters::{Layout, Shape},
};
use std::{boxed::Box, vec::Vec};

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// `[f32; N]`
    Vector(usize),
    /// `Table<ROWS, COLUMNS>`
    Table(usize, usize),
    /// `Panels<IN, OUT>`
    Panels(usize, usize),
    /// `[P; N]`
    Stack(Box<Node>, usize),
    /// `PhantomData`
    Phantom,
    /// What its own structure makes of the fingerprint, and its fields.
    Struct(Fingerprint, Vec<(&'static str, Node)>),
}

/// Where a struct's fingerprint starts.
pub(super) const START: Fingerprint = Fingerprint::of("struct");

impl Node {
    /// A struct without fields.
    pub(super) const NOTHING: Self = Self::Struct(START, Vec::new());

    pub(super) fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Vector(n) => Fingerprint::of("vector").number(*n),
            Self::Table(rows, columns) => Fingerprint::of("table").number(*rows).number(*columns),
            Self::Panels(inputs, outputs) => Fingerprint::of("panels").number(*inputs).number(*outputs),
            Self::Stack(part, n) => Fingerprint::of("stack").number(*n).part(part.fingerprint()),
            Self::Phantom => Fingerprint::of(""),
            Self::Struct(start, fields) => fields
                .iter()
                .fold(*start, |fingerprint, (name, field)| fingerprint.name(name).part(field.fingerprint())),
        }
    }

    /// Number of parameters.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Vector(n) => *n as u64,
            Self::Table(a, b) | Self::Panels(a, b) => (*a as u64).saturating_mul(*b as u64),
            Self::Stack(part, n) => part.count().saturating_mul(*n as u64),
            Self::Phantom => 0,
            Self::Struct(_, fields) => fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(field.count())),
        }
    }

    /// Visits the tensors in order.
    pub(super) fn walk(&self, name: &Name<'_>, visit: &mut dyn FnMut(&Name<'_>, Shape, Layout)) {
        match self {
            Self::Vector(n) => visit(name, Shape::Vector([*n]), Layout::RowMajor),
            Self::Table(rows, columns) => visit(name, Shape::Matrix([*rows, *columns]), Layout::RowMajor),
            Self::Panels(inputs, outputs) => visit(name, Shape::Matrix([*outputs, *inputs]), Layout::Panels),
            Self::Stack(part, n) => (0..*n).for_each(|i| part.walk(&name.index(i), visit)),
            Self::Phantom => {}
            Self::Struct(_, fields) => fields.iter().for_each(|(field, node)| node.walk(&name.field(field), visit)),
        }
    }
}
