//! An embedding into 32 features before an encoder of 64.

use constformer::{Classifier, Encoder, Kwt, PatchEmbedding};

type Kws = Classifier<PatchEmbedding<40, 32, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;

fn parameters(_model: &Kws) {}

fn main() {
    let _ = parameters;
}
