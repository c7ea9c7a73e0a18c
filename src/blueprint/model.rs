//! A model of a blueprint: its numbers.

use super::Blueprint;
use crate::{
    Fingerprint, Name, Tensor,
    parameters::{Visit, VisitMut, Walk},
};
use core::fmt::Display;
use std::{vec, vec::Vec};

pub(crate) struct Model<'b> {
    blueprint: &'b Blueprint,
    /// Those of each tensor.
    numbers: Vec<Vec<f32>>,
    /// Told of the bytes that are visited to be written.
    progress: &'b dyn Fn(u64),
}

impl<'b> Model<'b> {
    /// All zeros.
    pub(crate) fn new(blueprint: &'b Blueprint, progress: &'b dyn Fn(u64)) -> Self {
        let mut numbers = Vec::new();
        blueprint
            .node
            .walk(&Name::ROOT, &mut |_, shape, _| numbers.push(vec![0.0; shape.dimensions().iter().product()]));
        Self { blueprint, numbers, progress }
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
            if let Some(values) = numbers.next() {
                visit(name, Tensor { shape, layout, values });
            }
        });
    }

    fn tensors_mut<'a>(&'a mut self, visit: VisitMut<'_, 'a>) {
        let mut numbers = self.numbers.iter_mut();
        self.blueprint.node.walk(&Name::ROOT, &mut |name, shape, layout| {
            if let Some(values) = numbers.next() {
                (self.progress)(size_of_val(values.as_slice()) as u64);
                visit(name, Tensor { shape, layout, values });
            }
        });
    }
}
