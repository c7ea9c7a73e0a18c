//! A model of integers cannot be trained: it is what a trained one is quantised to.

use constformer::{
    Decoder, Gpt2, Int8, LanguageModel, TextEmbedding, boxed,
    training::{Pass, TrainableModel, TrainingMemory},
};

type Gpt<T = f32> = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4, T>, 16, 11>;

fn main() {
    let model = boxed::<Gpt<Int8>>();
    let mut gradient = boxed::<Gpt<Int8>>();
    let mut memory = boxed::<TrainingMemory<Gpt, 8>>();
    let _ = model.backward(&[1, 2], &[2, 3], Pass::new(0.5), &mut gradient, &mut memory);
}
