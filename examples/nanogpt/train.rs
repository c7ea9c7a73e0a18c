//! The model, its training, and what it has learnt.

use crate::{
    corpus::Corpus,
    curve::{self, Point},
    options::Options,
};
use constformer::{
    Boxed, CachedMemory, Causal, Custom, Decoder, Gelu, LanguageModel, Masked, NoBias, PreLn, TextEmbedding,
    WithFinalNorm, boxed, image,
    sampling::{Rng, Sampler, argmax},
    training::{
        AdamW, Checkpoint, CrossEntropy, Dropout, Gradient, IGNORE, Initialization, Loss, Moments, Pass,
        TrainableModel, TrainingError, WarmUpCosine, Workers, clip_norm,
    },
    typenum::U5,
};
use indicatif::{ProgressBar, ProgressStyle};
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use std::{error::Error, time::Instant};

const BLOCK: usize = 64;
/// Threads that share a batch.
const THREADS: usize = 2;
/// Steps from one validation to the next.
const INTERVAL: u32 = 250;

type NanoGpt = Masked<Custom<PreLn, Gelu, WithFinalNorm, U5, NoBias>, Causal>;
type Model<const V: usize> = LanguageModel<TextEmbedding<V, 128, BLOCK>, Decoder<NanoGpt, 4, 128, 512, 4>, 128, V>;
type Threads<const V: usize> = Workers<Model<V>, BLOCK, BLOCK>;
type State<const V: usize> = Checkpoint<Model<V>, Moments<Gradient<Model<V>>>>;

pub(crate) fn run<const V: usize>(corpus: &Corpus, options: &Options) -> Result<(), Box<dyn Error>> {
    let peak = options.rate.unwrap_or(if options.text.is_some() { 3e-3 } else { 1e-3 });
    let schedule = WarmUpCosine { warm_up: 100, steps: options.steps.max(101), peak, end: peak / 30.0 };
    let optimizer = AdamW { beta2: 0.99, weight_decay: 0.1, ..AdamW::default() };
    let dropout = Dropout::new(options.dropout, options.seed)?;
    let mut state = begin::<V>(options)?;
    let mut workers = Threads::<V>::new(THREADS);

    println!("{}: {} characters, {} different", corpus.name, corpus.training.len(), corpus.alphabet.len());
    let bar = ProgressBar::new(options.steps.into()).with_position(state.optimizer.steps().into());
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}")?);
    let (start, first) = (Instant::now(), state.optimizer.steps());
    let (mut points, mut recent) = (vec![], Loss::default());
    for step in first..options.steps {
        if step % INTERVAL == 0 && step > first {
            report(&mut points, step, recent, validate(&state.model, corpus, 240, &mut workers)?, &bar);
            recent = Loss::default();
            save(options, &state)?;
        }
        recent += learn(&state.model, corpus, (options.seed, step), dropout, &mut workers)?;
        clip_norm(workers.gradient(), 1.0);
        let Checkpoint { model, optimizer: moments } = &mut *state;
        optimizer.step(model, workers.gradient(), moments, schedule.rate(step));
        bar.inc(1);
    }
    let loss = validate(&state.model, corpus, usize::MAX, &mut workers)?;
    report(&mut points, options.steps, recent, loss, &bar);
    bar.finish_and_clear();
    save(options, &state)?;

    let seconds = start.elapsed().as_secs_f64();
    let steps = options.steps.saturating_sub(first);
    println!("{steps} steps in {seconds:.1} s, loss of validation {:.4}", loss.mean());
    curve::draw(&points, &format!("nanoGPT: {}", corpus.name), &options.curve)?;
    println!("the losses: {}", options.curve.display());
    samples(&state.model, corpus, options.seed)?;
    match options.at_most {
        Some(most) if loss.mean() > most || loss.mean().is_nan() => {
            Err(format!("a loss of {most} at most expected, found {:.4}", loss.mean()).into())
        }
        _ => Ok(()),
    }
}

/// The checkpoint, or a new model.
fn begin<const V: usize>(options: &Options) -> Result<Boxed<State<V>>, Box<dyn Error>> {
    if let Some(path) = options.checkpoint.as_ref().filter(|path| path.exists()) {
        return Ok(image::read(path)?);
    }
    let mut state = boxed::<State<V>>();
    Initialization::ScaledNormal.fill(&mut state.model, &mut SplitMix64::seed_from_u64(options.seed));
    Ok(state)
}

fn save<const V: usize>(options: &Options, state: &State<V>) -> Result<(), Box<dyn Error>> {
    options.checkpoint.as_ref().map_or(Ok(()), |path| Ok(image::write(path, state)?))
}

fn report(points: &mut Vec<Point>, step: u32, training: Loss, validation: Loss, bar: &ProgressBar) {
    points.push((step, training.mean(), validation.mean()));
    bar.set_message(format!("loss {:.3}, of validation {:.3}", training.mean(), validation.mean()));
}

/// The loss of a batch that is a function of the seed and the step.
fn learn<const V: usize>(
    model: &Model<V>,
    corpus: &Corpus,
    (seed, step): (u64, u32),
    dropout: Dropout,
    workers: &mut Threads<V>,
) -> Result<Loss, TrainingError> {
    let mut rng = SplitMix64::seed_from_u64(seed ^ u64::from(step) << 32);
    let (ids, [batch, len]) = (&corpus.training, corpus.batch(BLOCK));
    let texts: Vec<_> = (0..batch)
        .map(|_| corpus.start(ids, len, rng.next_u64()))
        .map(|start| (&ids[start..start + len], corpus.targets(ids, start, len)))
        .collect();
    let count = texts.iter().flat_map(|(_, targets)| targets).filter(|target| **target != IGNORE).count();
    workers.backward(model, &texts, |i, (inputs, targets)| {
        let number = u64::from(step) * batch as u64 + i as u64;
        let pass = Pass { dropout: dropout.pass(number), ..Pass::new(1.0 / count as f32) };
        (*inputs, &targets[..], pass)
    })
}

/// The loss of `count` texts of the validation, the same every time, or of all that there are.
fn validate<const V: usize>(
    model: &Model<V>,
    corpus: &Corpus,
    count: usize,
    workers: &mut Threads<V>,
) -> Result<Loss, TrainingError> {
    let (ids, memory, [_, len]) = (&corpus.validation, workers.memory(), corpus.batch(BLOCK));
    let texts = ids.len() / (len + 1);
    let mut total = Loss::default();
    for start in (0..texts).step_by((texts / count).max(1)).map(|text| text * (len + 1)) {
        let targets = corpus.targets(ids, start, len);
        total += model.loss(&ids[start..start + len], &targets, CrossEntropy::new(), memory)?;
    }
    Ok(total)
}

/// What the model says after a prompt; and how many problems it solves.
fn samples<const V: usize>(model: &Model<V>, corpus: &Corpus, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut rng = SplitMix64::seed_from_u64(seed);
    let sampler = Sampler::new().temperature(0.8)?;
    let mut memory = boxed::<CachedMemory<Model<V>, BLOCK>>();
    let mut say = |prompt: &str, length: usize, best: bool| -> Result<String, Box<dyn Error>> {
        let mut logits = [0.0; V];
        let mut ids = corpus.encode(prompt);
        memory.cache.reset();
        model.extend(&ids, &mut memory, &mut logits)?;
        let first = ids.len();
        while ids.len() < BLOCK.min(first + length) {
            let next = if best { argmax(&logits)? } else { sampler.sample(&mut logits, &[], &mut rng)? };
            ids.push(next);
            if ids.len() < BLOCK {
                model.extend(&[next], &mut memory, &mut logits)?;
            }
        }
        Ok(corpus.decode(&ids[first..]))
    };
    if corpus.problems.is_empty() {
        for _ in 0..5 {
            println!("---\n{}", say(&corpus.prompt, BLOCK, false)?.trim());
        }
        return Ok(());
    }
    let mut solved = 0;
    for (i, (problem, answer)) in corpus.problems.iter().enumerate() {
        let found = say(problem, answer.len(), true)?;
        solved += usize::from(found == *answer);
        if i < 5 {
            println!("{problem}{found} (the digits of the sum the other way round)");
        }
    }
    println!("{solved} of {} sums that were not in the training are right", corpus.problems.len());
    Ok(())
}
