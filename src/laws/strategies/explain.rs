//! Counterexamples in terms of tokens and parameters.

use super::{Damaged, Padded, Random, models::simplest};
use crate::Parameters;
use core::fmt::Write;
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// What is said of an input that breaks a law: a line or more.
pub trait Explain {
    /// The lines, without a break after the last.
    fn explain(&self) -> String;
}

/// Numbers that are written out at most, of those of a token or a tensor.
const AT_MOST: usize = 6;

/// `name = number` of some, and how many there are more.
fn listed(all: impl ExactSizeIterator<Item = (String, f32)>) -> String {
    let more = all.len().saturating_sub(AT_MOST);
    let some: Vec<_> = all.take(AT_MOST).map(|(name, x)| format!("{name} = {x:?}")).collect();
    let some = some.join(", ");
    if more > 0 { format!("{some}, and {more} more") } else { some }
}

fn is_zero(x: f32) -> bool {
    x.to_bits() == 0
}

/// A token: its features that are not 0.
impl<const D_MODEL: usize> Explain for Vec<[f32; D_MODEL]> {
    fn explain(&self) -> String {
        let mut text = format!("{} token{}", self.len(), if self.len() == 1 { "" } else { "s" });
        for (position, token) in self.iter().enumerate() {
            let features: Vec<_> = token.iter().copied().enumerate().filter(|(_, x)| !is_zero(*x)).collect();
            let some = listed(features.iter().map(|(i, x)| (format!("feature {i}"), *x)));
            let rest = match features.len() {
                0 => "all features 0",
                n if n < D_MODEL => ", all others 0",
                _ => "",
            };
            let _ = write!(text, "\n    token {position}: {some}{rest}");
        }
        text
    }
}

/// The tokens, and what lies beyond them.
impl<const D_MODEL: usize> Explain for Padded<D_MODEL> {
    fn explain(&self) -> String {
        format!("{}\n    beyond: all features {:?}", self.tokens.explain(), self.junk)
    }
}

/// Sequences one after the other.
impl<const D_MODEL: usize, const N: usize> Explain for [Vec<[f32; D_MODEL]>; N] {
    fn explain(&self) -> String {
        let each: Vec<_> = self.iter().enumerate().map(|(i, x)| format!("sequence {i}: {}", x.explain())).collect();
        each.join("\n")
    }
}

/// The parameters that are not plain.
impl<M: Parameters> Explain for Random<M> {
    fn explain(&self) -> String {
        if !self.simplified {
            return format!("parameters: laws::model({:#x})", self.seed);
        }
        let mut text = String::new();
        self.for_each_tensor(|name, tensor| {
            let (shape, simplest) = (tensor.shape(), simplest(name, tensor.shape()));
            let [_, columns] = shape.extent();
            let is_vector = shape.dimensions().len() == 1;
            let numbers = tensor.row_major().enumerate();
            let some: Vec<_> = numbers.filter(|(_, x)| x.to_bits() != simplest.to_bits()).collect();
            if !some.is_empty() {
                let named = some.iter().map(|(i, x)| {
                    let [row, column] = [i / columns.max(1), i % columns.max(1)];
                    let place = if is_vector { format!("[{column}]") } else { format!("[row {row}, column {column}]") };
                    (format!("{name}{place}"), *x)
                });
                let _ = write!(text, "\n    {}", listed(named));
            }
        });
        let all = "parameters: gains 1, all others 0";
        if text.is_empty() { all.to_string() } else { format!("{all}, but{text}") }
    }
}

/// A number and its name in the formula.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Named<T>(pub(in super::super) &'static str, pub(in super::super) T);

impl Explain for Named<f32> {
    fn explain(&self) -> String {
        format!("{} = {:?}", self.0, self.1)
    }
}

impl Explain for Named<Vec<f32>> {
    fn explain(&self) -> String {
        format!("{} = {:?}", self.0, self.1)
    }
}

impl<M: Parameters> Explain for Damaged<M> {
    fn explain(&self) -> String {
        format!("image of laws::model({:#x}): {:?}", self.seed, self.damage)
    }
}

macro_rules! each_on_lines_of_its_own {
    ($($first:ident $($other:ident)*;)*) => { $(
        impl<$first: Explain $(, $other: Explain)*> Explain for ($first, $($other),*) {
            #[allow(non_snake_case)]
            fn explain(&self) -> String {
                let ($first, $($other),*) = self;
                [$first.explain() $(, $other.explain())*].join("\n")
            }
        }
    )* };
}

each_on_lines_of_its_own! {
    A;
    A B;
    A B C;
    A B C D;
}
