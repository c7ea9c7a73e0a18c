//! How numbers become simple: what shrinking is for the parameters of a model and for the features of tokens.

use core::ops::Range;
use std::vec::Vec;

/// Numbers in parts (tensors, tokens) that become simple as long as a law still fails.
///
/// Each part is made plain (zeros; gains 1) as a whole, if it can be; what cannot, by halves, by quarters and so on; what is left,
/// number by number, becomes 1 or -1, or a power of ten, or is rounded to one digit. Every step is tried once: n numbers of which k matter take about
/// 2 k log n trials.
#[derive(Clone, Debug)]
pub(super) struct Simpler {
    pub(super) numbers: Vec<f32>,
    plain: Vec<f32>,
    parts: Vec<Range<usize>>,
    next: Step,
    undo: Option<(usize, Vec<f32>)>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Numbers of a part, `size` of them from `start` on.
    Some { part: usize, size: usize, start: usize },
    /// A number, and which simpler one it is replaced by.
    One { number: usize, form: usize },
}

/// What a number is replaced by, the simplest first.
fn form(x: f32, form: usize) -> Option<f32> {
    let power = || 10.0_f64.powi(f64::from(x.abs()).log10().floor() as i32);
    let simple = match form {
        0 => 1.0,
        1 => 1.0_f32.copysign(x),
        2 => (power() as f32).copysign(x),
        3 => ((f64::from(x) / power()).round() * power()) as f32,
        _ => return None,
    };
    Some(if simple.is_finite() && simple != 0.0 { simple } else { x })
}

impl Simpler {
    /// `plain` is what the numbers would be if they did not matter.
    pub(super) fn new(numbers: Vec<f32>, plain: Vec<f32>, parts: Vec<Range<usize>>) -> Self {
        let size = parts.first().map_or(0, ExactSizeIterator::len);
        Self { numbers, plain, parts, next: Step::Some { part: 0, size, start: 0 }, undo: None }
    }

    /// Makes something simpler; `false` if there is nothing left to try. What was made simpler before stays so.
    pub(super) fn simplify(&mut self) -> bool {
        self.undo = None;
        self.propose()
    }

    /// Takes back what was made simpler last, and makes something else simpler if it can; `false` if there is nothing to take back.
    pub(super) fn complicate(&mut self) -> bool {
        let Some((start, old)) = self.undo.take() else { return false };
        self.numbers[start..start + old.len()].copy_from_slice(&old);
        self.propose();
        true
    }

    fn propose(&mut self) -> bool {
        loop {
            let (range, new) = match self.next {
                Step::Some { part, size, start } => {
                    let Some(whole) = self.parts.get(part) else {
                        self.next = Step::One { number: 0, form: 0 };
                        continue;
                    };
                    let range = start.max(whole.start)..(start.max(whole.start) + size).min(whole.end);
                    self.next = if size == 0 || (size == 1 && range.end >= whole.end) {
                        let size = self.parts.get(part + 1).map_or(0, ExactSizeIterator::len);
                        Step::Some { part: part + 1, size, start: 0 }
                    } else if range.end >= whole.end {
                        Step::Some { part, size: size.div_ceil(2), start: 0 }
                    } else {
                        Step::Some { part, size, start: range.end }
                    };
                    (range.clone(), self.plain[range].to_vec())
                }
                Step::One { number, form: kind } => {
                    let Some(x) = self.numbers.get(number).copied() else { return false };
                    let is_plain = x.to_bits() == self.plain[number].to_bits();
                    match form(x, kind) {
                        Some(new) if !is_plain => {
                            self.next = Step::One { number, form: kind + 1 };
                            (number..number + 1, std::vec![new])
                        }
                        _ => {
                            self.next = Step::One { number: number + 1, form: 0 };
                            continue;
                        }
                    }
                }
            };
            let old = &mut self.numbers[range.clone()];
            if old.iter().zip(&new).any(|(old, new)| old.to_bits() != new.to_bits()) {
                self.undo = Some((range.start, old.to_vec()));
                old.copy_from_slice(&new);
                return true;
            }
        }
    }
}
