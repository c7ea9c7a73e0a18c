//! The structure of a model: what `parameters!` knows of a struct.

use super::arguments::Result;
use crate::{
    Fingerprint, Name,
    integer4::GROUP,
    parameters::{Layout, Shape},
};
use std::{boxed::Box, vec::Vec};

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// `[f32; N]`
    Vector(usize),
    /// `Table<ROWS, COLUMNS>`
    Table(usize, usize),
    /// `T::Matrix<IN, OUT>`
    Matrix(Format, usize, usize),
    /// `[P; N]`
    Stack(Box<Node>, usize),
    /// `PhantomData`
    Phantom,
    /// What its own structure makes of the fingerprint, and its fields.
    Struct(Fingerprint, Vec<(&'static str, Node)>),
}

/// A [`Format`](crate::Format).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    F32,
    Int8,
    Int4,
}

impl Format {
    /// All of them, by their names in Rust.
    pub(crate) const ALL: [(&str, Self); 3] = [("f32", Self::F32), ("Int8", Self::Int8), ("Int4", Self::Int4)];

    /// What the fingerprint calls its matrix.
    const fn matrix(self) -> &'static str {
        match self {
            Self::F32 => "panels",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        }
    }

    const fn layout(self) -> Layout {
        match self {
            Self::F32 => Layout::Panels,
            Self::Int8 => Layout::Int8,
            Self::Int4 => Layout::Int4,
        }
    }
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
            Self::Matrix(format, inputs, outputs) => Fingerprint::of(format.matrix()).number(*inputs).number(*outputs),
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
            Self::Table(a, b) | Self::Matrix(_, a, b) => (*a as u64).saturating_mul(*b as u64),
            Self::Stack(part, n) => part.count().saturating_mul(*n as u64),
            Self::Phantom => 0,
            Self::Struct(_, fields) => fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(field.count())),
        }
    }

    /// Bytes of the parameters.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Matrix(Format::Int8, _, outputs) => {
                let scales = 4 * *outputs as u64;
                self.count().next_multiple_of(4).saturating_add(scales)
            }
            Self::Matrix(Format::Int4, inputs, outputs) => {
                let row = (inputs.div_ceil(GROUP) + inputs.div_ceil(2)) as u64;
                (*outputs as u64).saturating_mul(row).next_multiple_of(4).saturating_add(4 * *outputs as u64)
            }
            Self::Stack(part, n) => part.bytes().saturating_mul(*n as u64),
            Self::Struct(_, fields) => fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(field.bytes())),
            Self::Vector(_) | Self::Table(..) | Self::Matrix(Format::F32, ..) | Self::Phantom => {
                self.count().saturating_mul(4)
            }
        }
    }

    /// Checks the inputs of every matrix.
    pub(super) fn check_inputs(&self, check: fn(Format, usize) -> Result<()>) -> Result<()> {
        match self {
            Self::Matrix(format, inputs, _) => check(*format, *inputs),
            Self::Stack(part, _) => part.check_inputs(check),
            Self::Struct(_, fields) => fields.iter().try_for_each(|(_, field)| field.check_inputs(check)),
            Self::Vector(_) | Self::Table(..) | Self::Phantom => Ok(()),
        }
    }

    /// Visits the tensors in order.
    pub(super) fn walk(&self, name: &Name<'_>, visit: &mut dyn FnMut(&Name<'_>, Shape, Layout)) {
        match self {
            Self::Vector(n) => visit(name, Shape::Vector([*n]), Layout::RowMajor),
            Self::Table(rows, columns) => visit(name, Shape::Matrix([*rows, *columns]), Layout::RowMajor),
            Self::Matrix(format, inputs, outputs) => visit(name, Shape::Matrix([*outputs, *inputs]), format.layout()),
            Self::Stack(part, n) => (0..*n).for_each(|i| part.walk(&name.index(i), visit)),
            Self::Phantom => {}
            Self::Struct(_, fields) => fields.iter().for_each(|(field, node)| node.walk(&name.field(field), visit)),
        }
    }
}
