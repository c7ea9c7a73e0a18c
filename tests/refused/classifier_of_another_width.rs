//! An encoder of 64 features between an embedding into 32 and a head of 32.

use constformer::{Classifier, Encoder, Kwt, PatchEmbedding};

type Kws = Classifier<PatchEmbedding<40, 32, 99>, Encoder<Kwt, 12, 64, 256, 1>, 32, 12>;

fn parameters(_model: &Kws) {}

fn main() {
    let _ = parameters;
}
