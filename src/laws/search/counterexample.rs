//! Inputs that break a law, and how they are looked for.

use crate::{
    laws::{Explain, Law, STATEMENTS},
    parameters::TypeName,
};
use core::{error::Error, fmt};
use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};
use std::{
    env,
    string::{String, ToString},
};

/// A law that does not hold, and small inputs that show it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Module and function of the law, `attention::prefix`.
    pub law: &'static str,
    /// What it says.
    pub formula: &'static str,
    /// For what it does not hold: a type.
    pub of: String,
    /// What was found, and what should have been.
    pub found: String,
    /// The inputs: tokens, and parameters, of which only those are listed that are not plain. A line or more.
    pub inputs: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, formula, of, found, inputs } = self;
        write!(f, "{of} breaks the law {law}:\n    {formula}\nfound: {found}\n{inputs}")
    }
}

impl Error for Counterexample {}

/// Whether a counterexample was found.
pub(super) type Found = Option<Counterexample>;

/// `PROPTEST_CASES` cases of one law, 256 by default; the same ones every time, unless `PROPTEST_RNG_SEED` says which.
pub(super) fn find<T, S>(law: &'static str, inputs: S, holds: impl Fn(S::Value) -> Law) -> Found
where
    S: Strategy,
    S::Value: Explain,
{
    let statement = STATEMENTS.iter().find(|statement| statement.law == law);
    let formula = statement.map_or("", |statement| statement.formula);
    let counterexample = |found: String, inputs| {
        let of = TypeName::of::<T>().to_string();
        Some(Counterexample { law, formula, of, found, inputs })
    };
    let config = Config { failure_persistence: None, max_shrink_iters: AT_MOST, ..Config::default() };
    let mut runner = if env::var_os("PROPTEST_RNG_SEED").is_some() {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    };
    match runner.run(&inputs, holds) {
        Ok(()) => None,
        Err(TestError::Fail(reason, inputs)) => counterexample(reason.message().to_string(), inputs.explain()),
        Err(TestError::Abort(reason)) => counterexample(reason.message().to_string(), String::new()),
    }
}

/// Trials to make a counterexample smaller.
const AT_MOST: u32 = 20_000;
