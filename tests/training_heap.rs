//! A step of training needs no heap and little stack: all of its memory is the type's.

use constformer::{
    Decoder, Gpt2, LanguageModel, TextEmbedding, boxed,
    training::{
        AdamW, Dropout, Gradient, Initialization, Moments, Pass, TrainableModel, TrainingMemory, clear, clip_norm,
    },
};
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::{alloc::System, thread};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Gpt = LanguageModel<TextEmbedding<65, 64, 32>, Decoder<Gpt2, 2, 64, 256, 4>, 64, 65>;

/// On a stack that has no room for the activations of a sequence: 64 KB, where those of one of the matrices alone are 32 KB.
#[test]
fn a_step_of_training_allocates_nothing() {
    let mut model = boxed::<Gpt>();
    let mut gradient = boxed::<Gradient<Gpt>>();
    let mut moments = boxed::<Moments<Gradient<Gpt>>>();
    let mut memory = boxed::<TrainingMemory<Gpt, 32, 32>>();
    Initialization::ScaledNormal.fill(&mut *model, &mut SplitMix64::seed_from_u64(17));
    let text: Vec<u32> = (0..33).map(|i| i * i % 65).collect();
    println!("{} bytes of memory for training", size_of::<TrainingMemory<Gpt, 32, 32>>());
    thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || {
            let mut region = Region::new(ALLOCATOR);
            for step in 0..3 {
                region.reset();
                let pass = Pass { dropout: Dropout::new(0.1, 7).unwrap().pass(step), ..Pass::new(1.0 / 32.0) };
                model.backward(&text[..32], &text[1..], pass, &mut gradient, &mut memory).unwrap();
                clip_norm(&mut *gradient, 1.0);
                AdamW::default().step(&mut *model, &*gradient, &mut *moments, 1e-3);
                clear(&mut *gradient);
                let change = region.change();
                assert_eq!((change.allocations, change.reallocations), (0, 0), "step {step}");
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

/// What the memory of training is made of, so that none of it is more than it must be: the stream, what the blocks save, attention, the
/// feed-forward layer, the residual connections, the head.
#[test]
fn memory_is_as_large_as_what_is_in_it() {
    const N: usize = 32; // tokens, and a tile
    let stream = N * 64;
    let saved = 2 * 2 * stream + stream; // two in each of two Pre-LN blocks, and what the last norm is given
    let attention = 4 * stream + 3 * stream + 2 * N * N;
    let feed_forward = 2 * N * 256;
    let residual = 3 * stream;
    let head = N * 65 + 2 * stream + 2 * N;
    let numbers = stream + 1 + saved + attention + feed_forward + residual + head;
    assert_eq!(size_of::<TrainingMemory<Gpt, N, N>>(), 4 * numbers);
}
