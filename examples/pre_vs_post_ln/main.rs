//! `cargo run --release --example pre_vs_post_ln [-- FILE.svg]`: why the norm moved before the sub-layer.
//!
//! Two GPTs of 12 layers that differ in nothing but the placement of their norms: the gradients of each layer when they start, and how they
//! learn to add without a warm-up. Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020, figures 3 and 4.

#[path = "../nanogpt/corpus.rs"]
#[expect(dead_code, reason = "texts from files, and problems to solve, are for the example `nanogpt` alone")]
mod corpus;
mod picture;

use constformer::{
    Causal, Custom, Decoder, LanguageModel, Masked, NoFinalNorm, Parameters, PostLn, PreLn, Relu, TextEmbedding,
    WithFinalNorm, boxed,
    sampling::Rng,
    training::{AdamW, Gradient, Initialization, Loss, Moments, Pass, TrainableModel, Workers},
};
use corpus::Corpus;
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use std::{error::Error, path::PathBuf, process::ExitCode};

const LAYERS: usize = 12;
const BLOCK: usize = 30;
const BATCH: usize = 16;
const STEPS: u32 = 300;
/// From the first step on.
const RATE: f32 = 1e-3;
/// Batches that a gradient at the start is the mean over.
const BATCHES: u32 = 8;

type Gpt<F> = LanguageModel<TextEmbedding<16, 64, BLOCK>, Decoder<F, LAYERS, 64, 256, 4>, 64, 16>;
type Post = Masked<Custom<PostLn, Relu, NoFinalNorm>, Causal>;
type Pre = Masked<Custom<PreLn, Relu, WithFinalNorm>, Causal>;

/// What is found out about a model.
struct Study {
    name: &'static str,
    /// The norm of the gradient of the feed-forward layer's last matrix, layer by layer, when training starts.
    gradients: Vec<f64>,
    /// The loss of each step.
    losses: Vec<f64>,
}

/// The gradients of a batch are then in `workers`.
fn learn<M>(model: &M, corpus: &Corpus, step: u32, workers: &mut Workers<M, BLOCK>) -> Result<Loss, Box<dyn Error>>
where
    M: for<'a> TrainableModel<Inputs<'a> = &'a [u32], Target<'a> = &'a [u32]> + Sync,
    Gradient<M>: Send,
    <M as TrainableModel>::TrainingMemory<BLOCK, { constformer::TILE }>: Send,
{
    let mut rng = SplitMix64::seed_from_u64(step.into());
    let last = (corpus.training.len() - BLOCK) as u64;
    let starts: [_; BATCH] = std::array::from_fn(|_| (rng.next_u64() % last) as usize);
    let loss = workers.backward(model, &starts, |_, start| {
        let text = &corpus.training[*start..=start + BLOCK];
        (&text[..BLOCK], &text[1..], Pass::new(1.0 / (BATCH * BLOCK) as f32))
    })?;
    Ok(loss)
}

/// The norm of the gradient of a layer.
fn norm_of(gradient: &impl Parameters, layer: usize) -> f64 {
    let (name, mut sum) = (format!("decoder.blocks.{layer}.feed_forward.outer.weight"), 0.0);
    gradient.for_each_tensor(|other, tensor| {
        if other.to_string() == name {
            sum = tensor.stored().iter().map(|g| f64::from(*g).powi(2)).sum();
        }
    });
    sum.sqrt()
}

fn study<M>(name: &'static str, corpus: &Corpus) -> Result<Study, Box<dyn Error>>
where
    M: for<'a> TrainableModel<Inputs<'a> = &'a [u32], Target<'a> = &'a [u32]> + Sync,
    Gradient<M>: Send,
    <M as TrainableModel>::TrainingMemory<BLOCK, { constformer::TILE }>: Send,
{
    let (mut model, mut moments) = (boxed::<M>(), boxed::<Moments<Gradient<M>>>());
    let mut workers = Workers::<M, BLOCK>::new(2);
    Initialization::Xavier.fill(&mut *model, &mut SplitMix64::seed_from_u64(17));
    let mut gradients = vec![0.0; LAYERS];
    for batch in 0..BATCHES {
        learn(&*model, corpus, STEPS + batch, &mut workers)?;
        for (layer, mean) in gradients.iter_mut().enumerate() {
            *mean += norm_of(workers.gradient(), layer) / f64::from(BATCHES);
        }
    }
    let optimizer = AdamW { beta2: 0.98, weight_decay: 0.0, ..AdamW::default() };
    let mut losses = vec![];
    for step in 0..STEPS {
        losses.push(learn(&*model, corpus, step, &mut workers)?.mean());
        optimizer.step(&mut *model, workers.gradient(), &mut *moments, RATE);
    }
    Ok(Study { name, gradients, losses })
}

/// The mean of the last losses.
fn end(losses: &[f64]) -> f64 {
    let last = &losses[losses.len() - 20..];
    last.iter().sum::<f64>() / last.len() as f64
}

fn run() -> Result<(), Box<dyn Error>> {
    let path =
        std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("pre_vs_post_ln.svg"), PathBuf::from);
    let corpus = Corpus::additions();
    let (post, pre) = (study::<Gpt<Post>>("Post-LN", &corpus)?, study::<Gpt<Pre>>("Pre-LN", &corpus)?);
    println!("the norm of a layer's gradient when training starts");
    println!("layer   Post-LN    Pre-LN");
    for (layer, (post, pre)) in post.gradients.iter().zip(&pre.gradients).enumerate() {
        println!("{layer:5} {post:9.4} {pre:9.4}");
    }
    let of = |study: &Study| study.gradients[LAYERS - 1] / study.gradients[0];
    println!("last by first: {:.1} of Post-LN, {:.1} of Pre-LN", of(&post), of(&pre));
    println!("loss after {STEPS} steps without a warm-up: {:.3}, {:.3}", end(&post.losses), end(&pre.losses));
    picture::draw(&[post, pre], &path)?;
    println!("{}", path.display());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pre_vs_post_ln: {error}");
            ExitCode::FAILURE
        }
    }
}
