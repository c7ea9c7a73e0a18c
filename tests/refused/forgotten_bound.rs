//! Generic code repeats two bounds, and is told which.

use constformer::{Bert, EncoderBlock};

fn parameters<const D_MODEL: usize, const D_FF: usize, const HEADS: usize>(
    _block: &EncoderBlock<Bert, D_MODEL, D_FF, HEADS>,
) {
}

fn main() {
    let _ = parameters::<8, 8, 2>;
}
