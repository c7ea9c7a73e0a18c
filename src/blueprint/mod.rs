//! The types of this library at run time: what a program knows of a model whose type rustc has not seen.
//!
//! A [`Blueprint`] is made of the text of a type, such as that in an image. It has what the type has as constants: the
//! fingerprint, the tensors, what it costs. `tests/blueprint.rs` compares them.

mod arguments;
mod config;
mod embeddings;
mod error;
mod expression;
mod family;
mod layers;
mod memory;
mod model;
mod models;
mod node;
mod run;

pub(crate) use config::{Config, of_llama2c};
pub use error::BlueprintError;
pub(crate) use expression::Expression;
pub(crate) use family::theta_in_rust;
pub(crate) use model::Model;
pub(crate) use node::Format;
pub(crate) use run::Runner;

use crate::{
    Fingerprint, Hyperparameters,
    cost::Macs,
    parameters::{Layout, Shape},
};
use memory::Memory;
use node::Node;
use std::{
    string::{String, ToString},
    vec::Vec,
};

/// A model's type, taken to pieces.
#[derive(Clone, Debug)]
pub struct Blueprint {
    expression: Expression,
    node: Node,
    cost: Option<Cost>,
    hyperparameters: Hyperparameters,
}

/// What running costs; of those types that are a [`Model`](crate::Model).
#[derive(Clone, Copy, Debug)]
struct Cost {
    memory: Memory,
    macs: Macs,
}

/// More parameters than any file has: so that sums of sums stay numbers.
const MOST: u64 = 1 << 40;

impl Blueprint {
    /// Of the text of a type: short as people write it, or as [`type_name`](core::any::type_name) does without paths.
    ///
    /// # Errors
    ///
    /// [`BlueprintError`] if it is no type, none of this library, or one that rustc would refuse.
    pub fn parse(text: &str) -> Result<Self, BlueprintError> {
        Self::of(&Expression::parse(text)?)
    }

    pub(crate) fn of(expression: &Expression) -> Result<Self, BlueprintError> {
        let blueprint = models::interpret(expression)?;
        if blueprint.count() > MOST {
            return Err(BlueprintError::Wrong(std::format!(
                "`{expression}` has more parameters than any machine holds"
            )));
        }
        blueprint.node.check_inputs(layers::known_inputs)?;
        Ok(blueprint)
    }

    /// `M::FINGERPRINT`
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.node.fingerprint()
    }

    /// `M::COUNT`
    #[must_use]
    pub fn count(&self) -> u64 {
        self.node.count()
    }

    /// `size_of::<M>()`
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.node.bytes()
    }

    /// `size_of::<Memory<M, SEQ_LEN, TILE>>()`; `None` if the type is no [`Model`](crate::Model).
    #[must_use]
    pub fn memory(&self, seq_len: u64, tile: u64) -> Option<u64> {
        self.cost.map(|cost| cost.memory.bytes(seq_len, tile))
    }

    /// `size_of::<CachedMemory<M, CAPACITY, TILE>>()`; `None` if the type is no [`CachedModel`](crate::CachedModel).
    #[must_use]
    pub fn cached_memory(&self, capacity: u64, tile: u64) -> Option<u64> {
        self.cost?.memory.with_cache(capacity, tile)
    }

    /// `M::MACS.total(len)`
    #[must_use]
    pub fn macs(&self, len: usize) -> Option<u64> {
        self.cost.map(|cost| cost.macs.total(len))
    }

    /// `M::HYPERPARAMETERS`
    #[must_use]
    pub const fn hyperparameters(&self) -> &Hyperparameters {
        &self.hyperparameters
    }

    /// The names and shapes of the tensors, in order.
    #[must_use]
    pub fn tensors(&self) -> Vec<(String, Shape)> {
        let mut all = Vec::new();
        self.node.walk(&crate::Name::ROOT, &mut |name, shape, _: Layout| all.push((name.to_string(), shape)));
        all
    }

    /// The type in Rust.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.expression
    }
}
