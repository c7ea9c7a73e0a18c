//! The blocks of a stack are of one family: a Post-LN block among Pre-LN ones is a mistake.

use constformer::{Bert, Encoder, EncoderBlock, Vit, Zero};

fn main() {
    let mut encoder = Encoder::<Vit, 2, 32, 128, 4>::ZERO;
    encoder.blocks[1] = EncoderBlock::<Bert, 32, 128, 4>::ZERO;
}
