//! A model of integers cannot be trained: it is what a trained one is quantised to.

use constformer::{
    Decoder, Gpt2, Int8, LanguageModel, TextEmbedding,
    training::{TrainableModel, TrainingMemory},
};

type Gpt<T = f32> = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4, T>, 16, 11>;

fn train<M: TrainableModel>() {}

fn memory(_: &TrainingMemory<Gpt<Int8>, 8>) {}

fn main() {
    train::<Gpt<Int8>>();
}
