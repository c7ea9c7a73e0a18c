//! A stack of encoder blocks has no cache.

use constformer::{CachedMemory, Encoder, Gpt2, LanguageModel, TextEmbedding};

type Model = LanguageModel<TextEmbedding<512, 64, 128>, Encoder<Gpt2, 2, 64, 256, 4>, 64, 512>;

fn memory(_memory: &CachedMemory<Model, 128>) {}

fn main() {
    let _ = memory;
}
