//! A table of 8 learned positions, a sequence of up to 9 tokens.

use constformer::{LearnedPositions, Sequence, Zero};

static POSITIONS: LearnedPositions<4, 8> = Zero::ZERO;

fn main() {
    let mut x = Sequence::<4, 9>::new();
    POSITIONS.forward(&mut x);
}
