//! A model of a blueprint: its numbers.

use super::Blueprint;
use crate::{
    Fingerprint, Hyperparameters, Name, Tensor,
    integer4::GROUP,
    parameters::{Layout, Numbers, NumbersMut, Shape, Visit, VisitMut, Walk},
};
use core::fmt::Display;
use std::{vec, vec::Vec};

pub(crate) struct Model<'b> {
    blueprint: &'b Blueprint,
    /// Those of each tensor.
    numbers: Vec<Storage>,
    /// Told of the bytes that are visited to be written.
    progress: &'b dyn Fn(u64),
}

/// The numbers of a tensor, in their format.
enum Storage {
    F32(Vec<f32>),
    Int8 { scales: Vec<f32>, integers: Vec<i8> },
    Int4 { scales: Vec<f32>, factors: Vec<u8>, integers: Vec<u8> },
}

impl Storage {
    fn zeros(shape: Shape, layout: Layout) -> Self {
        let count = shape.dimensions().iter().product();
        match layout {
            Layout::RowMajor | Layout::Panels => Self::F32(vec![0.0; count]),
            Layout::Int8 => {
                let rows = *shape.dimensions().first().unwrap_or(&0);
                Self::Int8 { scales: vec![0.0; rows], integers: vec![0; count] }
            }
            Layout::Int4 => {
                let [rows, columns] = [0, 1].map(|i| *shape.dimensions().get(i).unwrap_or(&0));
                let [factors, integers] = [GROUP, 2].map(|width| vec![0; rows * columns.div_ceil(width)]);
                Self::Int4 { scales: vec![0.0; rows], factors, integers }
            }
        }
    }

    fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::F32(numbers) => Numbers::F32(numbers),
            Self::Int8 { scales, integers } => Numbers::Int8 { scales, integers },
            Self::Int4 { scales, factors, integers } => Numbers::Int4 { scales, factors, integers },
        }
    }

    fn numbers_mut(&mut self) -> NumbersMut<'_> {
        match self {
            Self::F32(numbers) => NumbersMut::F32(numbers),
            Self::Int8 { scales, integers } => NumbersMut::Int8 { scales, integers },
            Self::Int4 { scales, factors, integers } => NumbersMut::Int4 { scales, factors, integers },
        }
    }

    /// Bytes of the numbers.
    fn size(&self) -> usize {
        match self {
            Self::F32(numbers) => size_of_val(numbers.as_slice()),
            Self::Int8 { scales, integers } => size_of_val(scales.as_slice()) + integers.len(),
            Self::Int4 { scales, factors, integers } => size_of_val(scales.as_slice()) + factors.len() + integers.len(),
        }
    }
}

impl<'b> Model<'b> {
    /// All zeros.
    pub(crate) fn new(blueprint: &'b Blueprint, progress: &'b dyn Fn(u64)) -> Self {
        let mut numbers = Vec::new();
        blueprint.node.walk(&Name::ROOT, &mut |_, shape, layout| numbers.push(Storage::zeros(shape, layout)));
        Self { blueprint, numbers, progress }
    }

    /// The model in the bytes of its weights, as an image has them.
    pub(crate) fn from_bytes(blueprint: &'b Blueprint, mut bytes: &[u8]) -> Self {
        let mut model = Self::new(blueprint, &|_| ());
        model.numbers.iter_mut().for_each(|storage| storage.numbers_mut().copy_from_bytes(&mut bytes));
        model
    }

    pub(super) const fn hyperparameters(&self) -> &Hyperparameters {
        self.blueprint.hyperparameters()
    }

    /// The parameters of `model`, of which this is another format.
    pub(crate) fn copy_from(&mut self, model: &Self) {
        let mut tensors = Vec::new();
        model.tensors(&mut |_, tensor| tensors.push(tensor));
        let mut tensors = tensors.into_iter();
        self.tensors_mut(&mut |_, mut to| {
            if let Some(from) = tensors.next() {
                to.set_all(from.row_major());
            }
        });
    }
}

impl Walk for Model<'_> {
    fn description(&self) -> impl Display {
        &self.blueprint.expression
    }

    fn fingerprint(&self) -> Fingerprint {
        self.blueprint.fingerprint()
    }

    fn bytes(&self) -> u64 {
        self.blueprint.bytes()
    }

    fn tensors<'a>(&'a self, visit: Visit<'_, 'a>) {
        let mut numbers = self.numbers.iter();
        self.blueprint.node.walk(&Name::ROOT, &mut |name, shape, layout| {
            if let Some(storage) = numbers.next() {
                visit(name, Tensor { frozen: false, shape, layout, numbers: storage.numbers() });
            }
        });
    }

    fn tensors_mut<'a>(&'a mut self, visit: VisitMut<'_, 'a>) {
        let mut numbers = self.numbers.iter_mut();
        self.blueprint.node.walk(&Name::ROOT, &mut |name, shape, layout| {
            if let Some(storage) = numbers.next() {
                (self.progress)(storage.size() as u64);
                visit(name, Tensor { frozen: false, shape, layout, numbers: storage.numbers_mut() });
            }
        });
    }
}
