//! Frames of 39 features into a model that takes 40.

use constformer::{Classifier, Encoder, Kwt, Memory, PatchEmbedding, Zero, boxed};

type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;

static KWS: Kws = Kws::ZERO;

fn main() {
    let mut memory = boxed::<Memory<Kws, 99>>();
    let _ = KWS.forward(&[[0.0; 39]; 98], &mut memory);
}
