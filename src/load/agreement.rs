//! What a comparison of activations comes to.

use core::{error::Error, fmt};
use std::{boxed::Box, string::String, vec::Vec};

/// An activation that agrees.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What this library calls it.
    pub name: String,
    /// What the reference calls it.
    pub reference: String,
    /// The largest |found - expected|.
    pub difference: f64,
}

/// All that was compared agrees.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// In the order in which the model computes them.
    pub compared: Vec<Compared>,
    /// What of the reference was not compared: the model shows no such activation, or its scheme does not know which it is.
    pub unseen: Vec<String>,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = self.compared.iter().map(|compared| compared.difference).fold(0.0, f64::max);
        write!(f, "{} activations agree, to {difference:.1e}", self.compared.len())?;
        match self.unseen.as_slice() {
            [] => Ok(()),
            [first, ..] => write!(f, "; {} of the reference were not compared: `{first}` ...", self.unseen.len()),
        }
    }
}

/// The first activation that departs.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// What this library calls it.
    pub name: String,
    /// What the reference calls it.
    pub reference: String,
    /// Of the number that departs most: the token,
    pub token: usize,
    /// the feature,
    pub feature: usize,
    /// what it is in the reference,
    pub expected: f32,
    /// and in the model.
    pub found: f32,
    /// How many numbers of the activation depart.
    pub count: usize,
    /// What agrees, and is computed before.
    pub before: Agreement,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, reference, token, feature, expected, found, count, before } = self;
        write!(
            f,
            "`{name}` departs from `{reference}` of the reference in {count} numbers: most in feature {feature} "
        )?;
        write!(f, "of token {token}, {expected:?} expected, found {found:?}")?;
        match before.compared.last() {
            None => write!(f, "; it is the first that was compared"),
            Some(last) => write!(f, "; before it, {before}, the last of them `{}`", last.name),
        }
    }
}

/// Activations do not agree, or cannot be compared.
#[derive(Debug)]
pub enum CompareError {
    /// One of them departs.
    Departs(Box<Departure>),
    /// The reference is of other tokens, or of another width.
    Shape {
        /// What this library calls the activation.
        name: String,
        /// What the reference calls it.
        reference: String,
        /// The shape of the reference.
        expected: Vec<usize>,
        /// Tokens and features of the model.
        found: [usize; 2],
    },
    /// A tensor is neither F64, F32, F16 nor BF16.
    Unreadable {
        /// What the reference calls it.
        reference: String,
        /// Its type.
        dtype: String,
    },
    /// Nothing that the model does has a name in the reference.
    NothingInCommon {
        /// What the model does.
        seen: Vec<String>,
        /// What the reference has.
        reference: Vec<String>,
    },
    /// The forward pass failed.
    Forward(Box<dyn Error>),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |names: &[String]| names.first().cloned().unwrap_or_default();
        match self {
            Self::Departs(departure) => departure.fmt(f),
            Self::Shape { name, reference, expected, found: [tokens, features] } => write!(
                f,
                "`{name}` has {tokens} tokens of {features} features, but `{reference}` of the reference the shape {expected:?}"
            ),
            Self::Unreadable { reference, dtype } => {
                write!(f, "`{reference}` of the reference is of type {dtype}: F64, F32, F16 or BF16 expected")
            }
            Self::NothingInCommon { seen, reference } => write!(
                f,
                "nothing to compare: the model has {} activations, such as `{}`, the reference {} tensors, such as `{}`, and none is \
                 known to be the same; is it another scheme?",
                seen.len(),
                first(seen),
                reference.len(),
                first(reference)
            ),
            Self::Forward(error) => write!(f, "the forward pass failed: {error}"),
        }
    }
}

impl Error for CompareError {}
