//! Tokens, and what may lie beyond them.

use super::{numbers::Numbers, simpler::Simpler};
use crate::{Boxed, Sequence, TokenFormat, TooLong, boxed};
use core::{array, ops};
use proptest::{
    prelude::any,
    sample::select,
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};
use std::vec::Vec;

/// Lists of tokens: what [`tokens`] and [`extreme_tokens`] return.
#[derive(Clone, Debug)]
pub struct TokenLists<const D_MODEL: usize> {
    lengths: ops::RangeInclusive<usize>,
    token: fn(&mut Numbers) -> [f32; D_MODEL],
}

/// Tokens of moderate size, U(-2, 2).
#[must_use]
pub fn tokens<const D_MODEL: usize>(lengths: ops::RangeInclusive<usize>) -> TokenLists<D_MODEL> {
    TokenLists { lengths, token: moderate }
}

/// Tokens as they should not be, of one kind each: huge (10⁴ and 10⁹), tiny (10⁻⁶), subnormal, far from zero with little
/// variance, zeros of both signs, all features equal, all features but one zero; and moderate ones.
#[must_use]
pub fn extreme_tokens<const D_MODEL: usize>(lengths: ops::RangeInclusive<usize>) -> TokenLists<D_MODEL> {
    TokenLists { lengths, token: extreme }
}

fn moderate<const D_MODEL: usize>(numbers: &mut Numbers) -> [f32; D_MODEL] {
    numbers.token(|x| 2.0 * x)
}

fn extreme<const D_MODEL: usize>(numbers: &mut Numbers) -> [f32; D_MODEL] {
    match numbers.bits() % 9 {
        0 => numbers.token(|x| 1e4 * x),
        1 => numbers.token(|x| 1e-6 * x),
        2 => numbers.token(|x| 1e3 + x),
        3 => numbers.token(|x| 0.0 * x),
        4 => [3.0 * numbers.next(); D_MODEL],
        5 => {
            let (place, height) = (numbers.bits() as usize % D_MODEL.max(1), 100.0 * numbers.next());
            array::from_fn(|i| if i == place { height } else { 0.0 })
        }
        6 => numbers.token(|x| 1e9 * x),
        7 => numbers.token(|x| f32::MIN_POSITIVE * x),
        _ => moderate(numbers),
    }
}

impl<const D_MODEL: usize> Strategy for TokenLists<D_MODEL> {
    type Tree = TokensTree<D_MODEL>;
    type Value = Vec<[f32; D_MODEL]>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let len = self.lengths.new_tree(runner)?.current();
        let mut numbers = Numbers(any::<u64>().new_tree(runner)?.current());
        let tokens: Vec<_> = (0..len).map(|_| (self.token)(&mut numbers)).collect();
        let fewer = Fewer { least: *self.lengths.start(), size: len, start: 0, undo: None };
        Ok(TokensTree { tokens, fewer, features: None })
    }
}

/// Tokens that become fewer, and then simple.
#[derive(Clone, Debug)]
pub struct TokensTree<const D_MODEL: usize> {
    tokens: Vec<[f32; D_MODEL]>,
    fewer: Fewer<D_MODEL>,
    /// Once there are as few tokens as can be.
    features: Option<Simpler>,
}

/// All tokens are left out, half of them, a quarter and so on.
#[derive(Clone, Debug)]
struct Fewer<const D_MODEL: usize> {
    least: usize,
    size: usize,
    start: usize,
    undo: Option<(usize, Vec<[f32; D_MODEL]>)>,
}

impl<const D_MODEL: usize> Fewer<D_MODEL> {
    fn propose(&mut self, tokens: &mut Vec<[f32; D_MODEL]>) -> bool {
        while self.size > 0 {
            let end = self.start + self.size;
            if end <= tokens.len() && tokens.len() - self.size >= self.least {
                self.undo = Some((self.start, tokens.drain(self.start..end).collect()));
                return true;
            }
            (self.size, self.start) = (self.size / 2, 0);
        }
        false
    }

    fn take_back(&mut self, tokens: &mut Vec<[f32; D_MODEL]>) {
        if let Some((start, some)) = self.undo.take() {
            self.start = start + some.len();
            tokens.splice(start..start, some);
        }
    }
}

impl<const D_MODEL: usize> TokensTree<D_MODEL> {
    fn features(&mut self) -> &mut Simpler {
        let numbers = self.tokens.as_flattened();
        self.features.get_or_insert_with(|| {
            let parts = (0..self.tokens.len()).map(|token| token * D_MODEL..(token + 1) * D_MODEL);
            Simpler::new(numbers.to_vec(), std::vec![0.0; numbers.len()], parts.collect())
        })
    }
}

impl<const D_MODEL: usize> ValueTree for TokensTree<D_MODEL> {
    type Value = Vec<[f32; D_MODEL]>;

    fn current(&self) -> Self::Value {
        match &self.features {
            Some(features) => features.numbers.as_chunks().0.to_vec(),
            None => self.tokens.clone(),
        }
    }

    fn simplify(&mut self) -> bool {
        if self.features.is_none() {
            self.fewer.undo = None;
            if self.fewer.propose(&mut self.tokens) {
                return true;
            }
        }
        self.features().simplify()
    }

    fn complicate(&mut self) -> bool {
        if let Some(features) = &mut self.features {
            return features.complicate();
        }
        let anything = self.fewer.undo.is_some();
        self.fewer.take_back(&mut self.tokens);
        if anything {
            self.fewer.propose(&mut self.tokens);
        }
        anything
    }
}

/// Tokens, and what lies beyond them in a sequence with more room.
#[derive(Clone, Debug)]
pub struct Padded<const D_MODEL: usize> {
    /// The tokens.
    pub tokens: Vec<[f32; D_MODEL]>,
    /// What lies beyond them, in every feature up to the capacity.
    pub junk: f32,
}

impl<const D_MODEL: usize> Padded<D_MODEL> {
    /// The sequence.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are more tokens than `SEQ_LEN`.
    pub fn sequence<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
    ) -> Result<Boxed<Sequence<D_MODEL, SEQ_LEN, S>>, TooLong> {
        let mut x = boxed::<Sequence<D_MODEL, SEQ_LEN, S>>();
        x.resize(SEQ_LEN)?;
        x.update(|_, tokens| tokens.fill([self.junk; D_MODEL]));
        x.assign(&self.tokens)?;
        Ok(x)
    }
}

/// Tokens of moderate size, and junk beyond them: 1, 0, -0, NaN, infinities, the greatest number and the smallest.
pub fn padded<const D_MODEL: usize>(
    lengths: ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Padded<D_MODEL>> + Clone {
    let junk = [1.0, 0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-45];
    (tokens(lengths), select(junk.to_vec())).prop_map(|(tokens, junk)| Padded { tokens, junk })
}
