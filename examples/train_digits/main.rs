//! `cargo run --release --example train_digits [-- --write]`: trains the vision transformer of the example `digits` from scratch.
//!
//! The schedule is fixed, and the test images are used for nothing but the last figure. With `--write`, the parameters that the example
//! `digits` and the firmware have become those of this run. (Sums are rounded differently by other processors, which then find others.)

mod augment;
#[path = "../digits/model.rs"]
mod model;

use augment::augmented;
use constformer::{
    Boxed, Memory, boxed, image,
    load::{Native, export},
    patches,
    sampling::{Rng, argmax},
    training::{
        AdamW, CrossEntropy, Initialization, Loss, Moments, Pass, WarmUpCosine, Workers, accumulate, clip_norm,
        move_average,
    },
};
use indicatif::{ProgressBar, ProgressStyle};
use model::{Digits, TOKENS};
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
use std::{env, error::Error, fs, path::Path, process::ExitCode, time::Instant};

const EPOCHS: usize = 150;
const BATCH: usize = 64;
const THREADS: usize = 2;
const PEAK_RATE: f32 = 3e-3;
const WEIGHT_DECAY: f32 = 0.05;
const SMOOTHING: f32 = 0.05;
/// How slowly the average follows the parameters.
const AVERAGE: f32 = 0.995;
/// What the accuracy must be at least, for a run to be one.
const RIGHT: usize = 350;

/// 64 pixels of 0 to 16, row by row, and the label. See `ATTRIBUTION.md` there.
const TRAINING_IMAGES: &[u8] = include_bytes!("../digits/training_images.bin");
const TEST_IMAGES: &[u8] = include_bytes!("../digits/test_images.bin");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits");

/// An image, pixels from 0 to 1, and the digit that it is of.
struct Example {
    image: [[f32; 8]; 8],
    label: u32,
}

fn examples(bytes: &[u8]) -> Vec<Example> {
    let example = |bytes: &[u8; 65]| Example {
        image: std::array::from_fn(|y| std::array::from_fn(|x| f32::from(bytes[8 * y + x]) / 16.0)),
        label: bytes[64].into(),
    };
    bytes.as_chunks().0.iter().map(example).collect()
}

/// The model at first: as PyTorch's modules start, but for tokens and positions that are small.
fn begin(rng: &mut SplitMix64) -> Boxed<Digits> {
    let (mut model, mut small) = (boxed::<Digits>(), boxed::<Digits>());
    Initialization::PyTorch.fill(&mut *model, rng);
    Initialization::ScaledNormal.fill(&mut *small, rng);
    model.embedding.class_token = small.embedding.class_token;
    model.embedding.positions.weight.rows = small.embedding.positions.weight.rows;
    model
}

/// The model after all epochs: the average of its parameters.
fn train(examples: &[Example]) -> Result<Boxed<Digits>, Box<dyn Error>> {
    let mut rng = SplitMix64::seed_from_u64(0);
    let mut model = begin(&mut rng);
    let (mut average, mut moments) = (boxed::<Digits>(), boxed::<Moments<Digits>>());
    accumulate(&mut *average, &*model);
    let mut workers = Workers::<Digits, TOKENS>::new(THREADS);
    let pass = Pass { loss: CrossEntropy::new().label_smoothing(SMOOTHING)?, ..Pass::new(1.0 / BATCH as f32) };
    let optimizer = AdamW { weight_decay: WEIGHT_DECAY, ..AdamW::default() };
    let steps = (EPOCHS * (examples.len() / BATCH)) as u32;
    let schedule = WarmUpCosine { warm_up: steps / 20, steps, peak: PEAK_RATE, end: 0.0 };
    let bar = ProgressBar::new(steps.into());
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}")?);

    let mut order: Vec<usize> = (0..examples.len()).collect();
    for _ in 0..EPOCHS {
        for i in (1..order.len()).rev() {
            order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        let mut loss = Loss::default();
        for batch in order.chunks_exact(BATCH) {
            let batch: Vec<_> = batch
                .iter()
                .map(|i| (patches::<8, 8, 2, 4, 16>(&augmented(&examples[*i].image, &mut rng)), examples[*i].label))
                .collect();
            loss += workers.backward(&model, &batch, |_, (patches, label)| (patches, *label, pass))?;
            clip_norm(workers.gradient(), 1.0);
            let step = moments.steps();
            optimizer.step(&mut *model, workers.gradient(), &mut *moments, schedule.rate(step));
            move_average(&mut *average, &*model, AVERAGE);
            bar.inc(1);
        }
        bar.set_message(format!("loss {:.3}", loss.mean()));
    }
    bar.finish_and_clear();
    Ok(average)
}

/// How many images are read right.
fn right(model: &Digits, examples: &[Example]) -> Result<usize, Box<dyn Error>> {
    let mut memory = boxed::<Memory<Digits, TOKENS>>();
    let mut right = 0;
    for Example { image, label } in examples {
        let logits = model.forward(&patches::<8, 8, 2, 4, 16>(image), &mut memory)?;
        right += usize::from(argmax(&logits)? == *label);
    }
    Ok(right)
}

fn run() -> Result<(), Box<dyn Error>> {
    let write = match env::args().nth(1).as_deref() {
        None => false,
        Some("--write") => true,
        Some(other) => return Err(format!("`--write` or nothing expected, found {other}").into()),
    };
    let (training, test) = (examples(TRAINING_IMAGES), examples(TEST_IMAGES));
    println!("{} images to learn, {} to test", training.len(), test.len());
    let start = Instant::now();
    let model = train(&training)?;
    let (right, seconds) = (right(&model, &test)?, start.elapsed().as_secs_f64());
    println!("{right} of {} held-out images right, after {seconds:.0} s", test.len());
    if right < RIGHT {
        return Err(format!("{RIGHT} right ones at least expected").into());
    }
    if write {
        let folder = Path::new(FOLDER);
        image::write(folder.join("digits.cfm"), &*model)?;
        export::<Native>(&*model, folder.join("digits.safetensors"))?;
        println!("written: {} bytes", fs::metadata(folder.join("digits.cfm"))?.len());
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train_digits: {error}");
            ExitCode::FAILURE
        }
    }
}
