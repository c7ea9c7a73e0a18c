//! A tied head of 500 tokens on an embedding of 512.

use constformer::{Decoder, Gpt2, LanguageModel, TextEmbedding};

type Model = LanguageModel<TextEmbedding<512, 64, 128>, Decoder<Gpt2, 2, 64, 256, 4>, 64, 500>;

fn parameters(_model: &Model) {}

fn main() {
    let _ = parameters;
}
