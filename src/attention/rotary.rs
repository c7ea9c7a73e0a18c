//! Rotary positions, applied to queries and keys.

use super::{projections::Place, single::KeysMut};
use crate::{
    math::{power_of_ten, sin_cos},
    rotation::{Pairing, Rotation},
};

/// The angle from one position to the next, for each pair: θ^(-2i / d).
fn steps<R: Rotation>(d_head: usize) -> impl Iterator<Item = f64> {
    let ratio = power_of_ten(-2.0 / d_head as f64 * R::LOG_THETA);
    core::iter::successors(Some(1.0), move |step| Some(step * ratio))
}

/// The sine and cosine of the angle at `position`.
fn turn(step: f64, position: usize) -> (f32, f32) {
    let (sin, cos) = sin_cos(step * position as f64);
    (sin as f32, cos as f32)
}

/// The two columns of pair `i` in a head.
fn pair<R: Rotation>(i: usize, d_head: usize) -> Option<(usize, usize)> {
    match R::PAIRING? {
        Pairing::Interleaved => Some((2 * i, 2 * i + 1)),
        Pairing::HalfSplit => Some((i, i + d_head / 2)),
    }
}

/// Rotates the queries `x`, one a row.
pub(super) fn rotate_rows<R: Rotation, const D: usize>(x: &mut [[f32; D]], place: Place, d_head: usize) {
    for (i, step) in (0..d_head / 2).zip(steps::<R>(d_head)) {
        let Some((a, b)) = pair::<R>(i, d_head) else { return };
        for (row, x) in x.iter_mut().enumerate() {
            let (sin, cos) = turn(step, place.position() + row);
            for head in x.chunks_exact_mut(d_head) {
                (head[a], head[b]) = (head[a] * cos - head[b] * sin, head[a] * sin + head[b] * cos);
            }
        }
    }
}

/// Rotates `count` keys from `place` on.
pub(super) fn rotate_keys<R: Rotation, const D_KV: usize, const SEQ_LEN: usize>(
    keys: &mut KeysMut<'_, D_KV, SEQ_LEN>,
    place: Place,
    count: usize,
    d_head: usize,
) {
    for (i, step) in (0..d_head / 2).zip(steps::<R>(d_head)) {
        let Some((a, b)) = pair::<R>(i, d_head) else { return };
        for token in place.column..(place.column + count).min(SEQ_LEN) {
            let (sin, cos) = turn(step, place.before + token);
            for head in (0..D_KV).step_by(d_head) {
                let (x, y) = (keys.get(head + a, token), keys.get(head + b, token));
                keys.set(head + a, token, x * cos - y * sin);
                keys.set(head + b, token, x * sin + y * cos);
            }
        }
    }
}
