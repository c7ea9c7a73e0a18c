//! Models with random parameters.

use super::{numbers::Numbers, simpler::Simpler};
use crate::{Boxed, Name, Parameters, Shape, Tensor, boxed, parameters::NumbersMut};
use core::{fmt, marker::PhantomData, ops};
use proptest::{
    prelude::any,
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};
use std::{string::ToString, vec::Vec};

/// Parameters of moderate size, as those of a model when it starts to learn, drawn from a seed
///
/// Matrices: U(-1, 1) / √(columns), so that a product is about as large as its input. Gains (vectors called `weight`):
/// 1 ± 0.2. Other vectors: ± 0.2, so that no bias goes unnoticed.
pub fn fill(model: &mut impl Parameters, seed: u64) {
    let mut numbers = Numbers(seed);
    model.for_each_tensor_mut(|name, mut tensor: Tensor<NumbersMut<'_>>| {
        let all = drawn(&mut numbers, name, tensor.shape());
        tensor.set_all(all.into_iter());
    });
}

/// The numbers of a tensor, row by row.
fn drawn(numbers: &mut Numbers, name: &Name<'_>, shape: Shape) -> Vec<f32> {
    let spread = match shape {
        Shape::Matrix([_, columns]) => 1.0 / crate::math::sqrt(columns as f32),
        Shape::Vector(_) => 0.2,
    };
    let (centre, count) = (simplest(name, shape), shape.dimensions().iter().product());
    (0..count).map(|_| centre + spread * numbers.next()).collect()
}

/// What the numbers of a tensor are if nothing depends on them: 1 for gains, otherwise 0.
pub(super) fn simplest(name: &Name<'_>, shape: Shape) -> f32 {
    if matches!(shape, Shape::Vector(_)) && name.to_string().ends_with("weight") { 1.0 } else { 0.0 }
}

/// Gains become 1, all else 0, in the tensors whose names `which` picks.
pub(crate) fn plain(model: &mut impl Parameters, mut which: impl FnMut(&str) -> bool) {
    model.for_each_tensor_mut(|name, mut tensor| {
        if which(&name.to_string()) {
            let simplest = simplest(name, tensor.shape());
            tensor.fill(simplest);
        }
    });
}

/// A model with parameters from a seed, as by [`fill`]; on the heap, however large it is.
#[must_use]
pub fn model<M: Parameters>(seed: u64) -> Boxed<M> {
    let mut model = boxed::<M>();
    fill(&mut *model, seed);
    model
}

/// A model with random parameters. In the report of a failure are those that the failure takes; all others are plain, zeros and
/// gains of 1.
pub struct Random<M> {
    pub(super) seed: u64,
    /// Whether it is no longer what [`model`] makes of the seed.
    pub(super) simplified: bool,
    model: Boxed<M>,
}

impl<M: Parameters> fmt::Debug for Random<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::Explain::explain(self))
    }
}

impl<M> ops::Deref for Random<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.model
    }
}

impl<M> ops::DerefMut for Random<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.model
    }
}

/// Models with random parameters, as by [`fill`]: what [`models`] returns.
pub struct Models<M>(PhantomData<M>);

impl<M> fmt::Debug for Models<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("models()")
    }
}

/// Models with random parameters, as by [`fill`]; any model, through [`Parameters`].
///
/// They shrink tensor by tensor to zeros (gains: to 1), then number by number, as long as the law still fails.
#[must_use]
pub fn models<M: Parameters>() -> Models<M> {
    Models(PhantomData)
}

impl<M: Parameters> Strategy for Models<M> {
    type Tree = ModelTree<M>;
    type Value = Random<M>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        Ok(ModelTree { seed: any::<u64>().new_tree(runner)?.current(), simpler: None, model: PhantomData })
    }
}

/// A model that becomes simple.
pub struct ModelTree<M> {
    seed: u64,
    /// Its numbers, once they are to be simplified: most models never are.
    simpler: Option<Simpler>,
    model: PhantomData<M>,
}

impl<M: Parameters> ModelTree<M> {
    fn simpler(&mut self) -> &mut Simpler {
        self.simpler.get_or_insert_with(|| {
            let mut random = Numbers(self.seed);
            let [mut numbers, mut plain] = [Vec::new(), Vec::new()];
            let mut parts = Vec::new();
            boxed::<M>().for_each_tensor(|name, tensor| {
                let start = numbers.len();
                numbers.extend(drawn(&mut random, name, tensor.shape()));
                plain.resize(numbers.len(), simplest(name, tensor.shape()));
                parts.push(start..numbers.len());
            });
            Simpler::new(numbers, plain, parts)
        })
    }
}

impl<M: Parameters> ValueTree for ModelTree<M> {
    type Value = Random<M>;

    fn current(&self) -> Random<M> {
        let Some(simpler) = &self.simpler else {
            return Random { seed: self.seed, simplified: false, model: model(self.seed) };
        };
        let mut model = boxed::<M>();
        let mut rest = simpler.numbers.as_slice();
        model.for_each_tensor_mut(|_, mut tensor| {
            let (these, after) = rest.split_at(tensor.shape().dimensions().iter().product());
            tensor.set_all(these.iter().copied());
            rest = after;
        });
        Random { seed: self.seed, simplified: true, model }
    }

    fn simplify(&mut self) -> bool {
        self.simpler().simplify()
    }

    fn complicate(&mut self) -> bool {
        self.simpler.as_mut().is_some_and(Simpler::complicate)
    }
}
