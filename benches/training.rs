//! `taskset -c 1 cargo bench --bench training`: a step of training nanoGPT's configuration for processors: 4 layers, 4 heads, width 128,
//! 12 texts of 64 characters, AdamW. The peers' figure of the same comes from `benches/peers/training.py`, which runs this too.
//!
//! Times are of the process on the processor, medians.

use constformer::{
    Causal, Custom, Decoder, Gelu, LanguageModel, Masked, NoBias, PreLn, TextEmbedding, WithFinalNorm, boxed,
    training::{
        AdamW, Gradient, Initialization, Loss, Moments, Pass, TrainableModel, TrainingMemory, clear, clip_norm,
    },
    typenum::U5,
};
use cpu_time::ProcessTime;
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use std::time::Duration;

type NanoGpt = Masked<Custom<PreLn, Gelu, WithFinalNorm, U5, NoBias>, Causal>;
type Model = LanguageModel<TextEmbedding<65, 128, 64>, Decoder<NanoGpt, 4, 128, 512, 4>, 128, 65>;

/// How long it is measured.
const BUDGET: Duration = Duration::from_secs(4);

fn main() {
    let mut model = boxed::<Model>();
    let mut gradient = boxed::<Gradient<Model>>();
    let mut moments = boxed::<Moments<Gradient<Model>>>();
    let mut memory = boxed::<TrainingMemory<Model, 64, 64>>();
    Initialization::ScaledNormal.fill(&mut *model, &mut SplitMix64::seed_from_u64(17));
    let text: Vec<u32> = (0..=64).map(|i| i * 29 % 65).collect();

    let (mut times, begin) = (vec![], ProcessTime::now());
    let mut parts = [Duration::ZERO; 2];
    while begin.elapsed() < BUDGET {
        let start = ProcessTime::now();
        let mut loss = Loss::default();
        for _ in 0..12 {
            let (inputs, targets) = (&text[..64], &text[1..]);
            loss += model.backward(inputs, targets, Pass::new(1.0 / 768.0), &mut gradient, &mut memory).unwrap();
        }
        parts[0] += start.elapsed();
        clip_norm(&mut *gradient, 1.0);
        AdamW::default().step(&mut *model, &*gradient, &mut *moments, 1e-3);
        clear(&mut *gradient);
        times.push(start.elapsed());
        parts[1] += start.elapsed();
        assert!(loss.mean().is_finite());
    }
    times.sort();
    let milliseconds = |time: Duration| 1e3 * time.as_secs_f64();
    println!("step_ms {:.3}", milliseconds(times[times.len() / 2]));
    println!("of which forward and backward {:.3}", parts[0].as_secs_f64() / parts[1].as_secs_f64());
}
