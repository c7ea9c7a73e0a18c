//! From a checkpoint to a model.

use super::{Checkpoint, Fault, LoadError, Origin, Scheme, checkpoint::Stored};
use crate::parameters::{Parameters, Shape, Walk};
use std::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

impl Checkpoint<'_> {
    /// Fills `model` with the tensors, which are named and stored as the scheme `S` has it.
    ///
    /// Everything is checked before the first number is written.
    ///
    /// # Errors
    ///
    /// [`LoadError::Tensors`] with all that is wrong; then the model is as it was.
    pub fn load<S: Scheme>(&self, model: &mut impl Parameters) -> Result<(), LoadError> {
        self.fill::<S>(model)
    }

    /// [`load`](Self::load) for a model of a type or of none.
    pub(crate) fn fill<S: Scheme>(&self, model: &mut impl Walk) -> Result<(), LoadError> {
        let mut steps = self.plan::<S>(model)?.into_iter();
        model.tensors_mut(&mut |_, mut tensor| {
            if let Some((origin, stored)) = steps.next()
                && let Some(numbers) = self.numbers(stored)
            {
                // Every place has a number, as the plan has seen.
                tensor.set_all(origin.places(tensor.shape()).map(|place| numbers.get(place).unwrap_or_default()));
            }
        });
        Ok(())
    }

    /// Where each tensor of `model` comes from.
    fn plan<S: Scheme>(&self, model: &impl Walk) -> Result<Vec<(Origin, &Stored)>, LoadError> {
        let mut plan = Plan::new::<S>(self);
        model.tensors(&mut |name, tensor| plan.check::<S>(name.to_string(), tensor.shape()));
        plan.check_rest::<S>();
        if plan.faults.is_empty() {
            Ok(plan.steps)
        } else {
            Err(LoadError::Tensors { model: model.description().to_string(), faults: plan.faults })
        }
    }
}

/// What is to be done, and what speaks against it.
struct Plan<'c> {
    checkpoint: &'c Checkpoint<'c>,
    /// The names in the file and the tensors, by canonical name.
    known: BTreeMap<String, (&'c str, &'c Stored)>,
    used: BTreeSet<String>,
    /// Whether the model has a head.
    head: bool,
    /// For each tensor of the model.
    steps: Vec<(Origin, &'c Stored)>,
    faults: Vec<Fault>,
}

impl<'c> Plan<'c> {
    fn new<S: Scheme>(checkpoint: &'c Checkpoint<'_>) -> Self {
        let (mut known, mut faults) = (BTreeMap::new(), Vec::new());
        for name in &checkpoint.twice {
            faults.push(Fault::Twice { first: name.clone(), second: name.clone() });
        }
        for (name, stored) in &checkpoint.tensors {
            if let Some((first, _)) = known.insert(S::canonical(name), (name.as_str(), stored)) {
                faults.push(Fault::Twice { first: String::from(first), second: name.clone() });
            }
        }
        Self { checkpoint, known, used: BTreeSet::new(), head: false, steps: Vec::new(), faults }
    }

    /// Finds the tensor of the model called `tensor`.
    fn check<S: Scheme>(&mut self, tensor: String, shape: Shape) {
        self.head |= tensor.starts_with("head.");
        let Some(mut origin) = S::origin(&tensor) else {
            return self.faults.push(Fault::Unknown { tensor });
        };
        if let Some([head, embedding]) = S::TIED
            && origin.name == head
            && !self.known.contains_key(head)
        {
            origin.name = embedding.into();
        }
        let Some(&(name, stored)) = self.known.get(&origin.name) else {
            return self.faults.push(Fault::Missing { tensor, origin: origin.name });
        };
        self.used.insert(origin.name.clone());
        let expected = origin.shape(shape);
        if stored.shape != expected {
            let (origin, found) = (name.into(), stored.shape.clone());
            return self.faults.push(Fault::Shape { tensor, origin, expected, found });
        }
        let Some(numbers) = self.checkpoint.numbers(stored) else {
            return self.faults.push(Fault::Dtype { tensor, origin: name.into(), found: stored.dtype });
        };
        let value = |place: usize| numbers.get(place).unwrap_or(f32::NAN);
        if let Some(place) = origin.places(shape).find(|place| !value(*place).is_finite()) {
            return self.faults.push(Fault::NotFinite { tensor, origin: name.into(), place, found: value(place) });
        }
        self.steps.push((origin, stored));
    }

    /// Looks at the tensors that the model has not used.
    fn check_rest<S: Scheme>(&mut self) {
        for (canonical, (name, stored)) in &self.known {
            let embedding = S::TIED.filter(|[head, _]| head == canonical);
            // A head's matrix is harmless to a model without a head only.
            if self.used.contains(canonical) || S::harmless(canonical) && !(self.head && embedding.is_some()) {
                continue;
            }
            self.faults.push(match embedding.and_then(|[_, embedding]| self.known.get(embedding)) {
                Some((_, table)) if self.same(stored, table) => continue,
                Some((embedding, table)) if stored.shape == table.shape => {
                    Fault::NotTied { head: (*name).into(), embedding: (*embedding).into() }
                }
                _ => Fault::LeftOver { origin: (*name).into(), shape: stored.shape.clone() },
            });
        }
    }

    fn same(&self, a: &Stored, b: &Stored) -> bool {
        a.dtype == b.dtype && a.shape == b.shape && self.checkpoint.bytes(a) == self.checkpoint.bytes(b)
    }
}
