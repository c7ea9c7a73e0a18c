//! The arguments of a type, one after the other.

use super::{BlueprintError, Expression, node::Format};
use std::format;

/// Larger than any width and any vocabulary: so that products of two stay numbers.
const LARGEST: u64 = 1 << 24;

/// What is left of the arguments of a type.
pub(super) struct Arguments<'e> {
    of: &'e str,
    rest: &'e [Expression],
}

pub(super) type Result<T> = core::result::Result<T, BlueprintError>;

pub(super) fn wrong<T>(text: std::string::String) -> Result<T> {
    Err(BlueprintError::Wrong(text))
}

impl<'e> Arguments<'e> {
    pub(super) const fn new(of: &'e str, arguments: &'e [Expression]) -> Self {
        Self { of, rest: arguments }
    }

    /// The next one, if there is one.
    pub(super) fn next(&mut self) -> Option<&'e Expression> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(super) fn expression(&mut self, name: &str) -> Result<&'e Expression> {
        match self.next() {
            Some(argument) => Ok(argument),
            None => wrong(format!("`{}` has no argument `{name}`", self.of)),
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Result<usize> {
        let argument = self.expression(name)?;
        self.to_number(name, argument)
    }

    pub(super) fn number_or(&mut self, name: &str, default: usize) -> Result<usize> {
        self.next().map_or(Ok(default), |argument| self.to_number(name, argument))
    }

    fn to_number(&self, name: &str, argument: &Expression) -> Result<usize> {
        match argument {
            Expression::Number(n @ 1..=LARGEST) => Ok(*n as usize),
            other => wrong(format!("`{}`: a number of 1 to {LARGEST} expected for `{name}`, found `{other}`", self.of)),
        }
    }

    /// A number of typenum, of which there are at most `largest`.
    pub(super) fn unsigned_or(&mut self, name: &str, default: u64, largest: u64) -> Result<u64> {
        let Some(argument) = self.next() else { return Ok(default) };
        match argument.as_unsigned() {
            Some(n) if n <= largest => Ok(n),
            _ => wrong(format!("`{}`: `U0` to `U{largest}` expected for `{name}`, found `{argument}`", self.of)),
        }
    }

    /// One of these types without arguments, by its place; the first, if there is no argument.
    pub(super) fn one_of(&mut self, names: &[&str]) -> Result<usize> {
        let Some(argument) = self.next() else { return Ok(0) };
        match names.iter().position(|name| *argument == Expression::named(name)) {
            Some(place) => Ok(place),
            None => Err(BlueprintError::Own(format!("{argument}"))),
        }
    }

    /// The format of the weights.
    pub(super) fn format(&mut self) -> Result<Format> {
        Ok(Format::ALL[self.one_of(&Format::ALL.map(|(name, _)| name))?].1)
    }

    pub(super) fn end(self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(argument) => wrong(format!("`{}` has no use for the argument `{argument}`", self.of)),
        }
    }
}
