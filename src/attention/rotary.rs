//! Rotary positions, applied to queries and keys.

use super::{projections::Place, single::KeysMut};
use crate::{
    math::{RADIAN, mul_high, power_of_ten},
    number::Number,
    rotation::{Pairing, Rotation},
};
use core::marker::PhantomData;

/// The rotation `R` of heads of `d_head` columns.
pub(crate) struct Rotary<R> {
    d_head: usize,
    /// θ^(-2 / d), the quotient of the angles of two pairs; 2⁶⁴ are 1.
    quotient: u64,
    rotation: PhantomData<R>,
}

impl<R: Rotation> Rotary<R> {
    pub(super) const fn new(d_head: usize) -> Self {
        const ONE: f64 = 2.0 * (1u64 << 63) as f64;
        let quotient = (power_of_ten(-2.0 / d_head as f64 * R::LOG_THETA) * ONE) as u64;
        Self { d_head, quotient, rotation: PhantomData }
    }

    /// The angle from one position to the next, θ^(-2i / d), and the two columns of a head, for each pair i.
    fn pairs(&self) -> impl Iterator<Item = (u64, usize, usize)> {
        let steps = core::iter::successors(Some(RADIAN), |step| Some(mul_high(*step, self.quotient)));
        (0..self.d_head / 2).zip(steps).filter_map(|(i, step)| match R::PAIRING? {
            Pairing::Interleaved => Some((step, 2 * i, 2 * i + 1)),
            Pairing::HalfSplit => Some((step, i, i + self.d_head / 2)),
        })
    }

    /// Rotates the queries or keys `x`, one a row.
    pub(super) fn rotate_rows<N: Number, const D: usize>(&self, x: &mut [[N; D]], place: Place) {
        for (step, a, b) in self.pairs() {
            for (row, x) in x.iter_mut().enumerate() {
                let rotate = N::rotation(turn(step, place.position() + row));
                for head in x.chunks_exact_mut(self.d_head) {
                    (head[a], head[b]) = rotate(head[a], head[b]);
                }
            }
        }
    }

    /// Rotates the rows `x` back: what [`rotate_rows`](Self::rotate_rows) does to gradients.
    pub(super) fn rotate_rows_back<const D: usize>(&self, x: &mut [[f32; D]], place: Place) {
        for (step, a, b) in self.pairs() {
            for (row, x) in x.iter_mut().enumerate() {
                let rotate = f32::rotation(turn(step, place.position() + row).wrapping_neg());
                for head in x.chunks_exact_mut(self.d_head) {
                    (head[a], head[b]) = rotate(head[a], head[b]);
                }
            }
        }
    }

    /// Rotates `count` keys from `place` on.
    pub(super) fn rotate_keys<const D_KV: usize, const SEQ_LEN: usize>(
        &self,
        keys: &mut KeysMut<'_, D_KV, SEQ_LEN>,
        place: Place,
        count: usize,
    ) {
        for (step, a, b) in self.pairs() {
            for token in place.column..(place.column + count).min(SEQ_LEN) {
                let rotate = f32::rotation(turn(step, place.before + token));
                for head in (0..D_KV).step_by(self.d_head) {
                    let (x, y) = rotate(keys.get(head + a, token), keys.get(head + b, token));
                    keys.set(head + a, token, x);
                    keys.set(head + b, token, y);
                }
            }
        }
    }
}

/// The angle at `position`, of which 2⁶⁴ are a turn.
const fn turn(step: u64, position: usize) -> u64 {
    step.wrapping_mul(position as u64)
}
