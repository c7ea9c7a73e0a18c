//! `cargo run --release --example digits`: a trained vision transformer reads handwritten digits.
//!
//! The model, its weights and its working memory are what they would be in firmware: a type, bytes in flash, a static.
//! Only this file prints.

mod model;

use constformer::{InputError, Memory, Plan, Zero, include_model, patches};
use model::{Digits, TOKENS};
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

static DIGITS: &Digits = include_model!(Digits, "digits.cfm");
static MEMORY: Mutex<Memory<Digits, TOKENS>> = Mutex::new(Memory::<Digits, TOKENS>::ZERO);

/// 64 pixels of 0 to 16, row by row, and the label. See `ATTRIBUTION.md`.
static TEST_IMAGES: &[u8] = include_bytes!("test_images.bin");

const _: () = Plan::<Digits, TOKENS, 4>::assert_fits(100_000, 16_384); // as on a microcontroller, four tokens at a time

struct Example {
    image: [[f32; 8]; 8],
    label: usize,
}

fn examples() -> impl Iterator<Item = Example> {
    TEST_IMAGES.as_chunks::<65>().0.iter().map(|bytes| Example {
        image: std::array::from_fn(|y| std::array::from_fn(|x| f32::from(bytes[8 * y + x]) / 16.0)),
        label: bytes[64].into(),
    })
}

/// The digit with the highest logit.
fn predict(image: &[[f32; 8]; 8], memory: &mut Memory<Digits, TOKENS>) -> Result<usize, InputError> {
    let logits = DIGITS.forward(&patches::<8, 8, 2, 4, 16>(image), memory)?;
    Ok((0..10).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap_or_default())
}

/// Prints images side by side, two characters a pixel.
fn draw(examples: &[Example]) {
    for y in 0..8 {
        for example in examples {
            for pixel in example.image[y] {
                let shade = ["  ", "░░", "▒▒", "▓▓", "██"][(pixel * 4.0).round() as usize];
                print!("{shade}");
            }
            print!("   ");
        }
        println!();
    }
}

fn main() -> Result<(), InputError> {
    type MicrocontrollerPlan = Plan<Digits, TOKENS, 4>;
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);

    println!("model     Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>");
    println!("          a vision transformer: 2 layers, D_MODEL 32, D_FF 96, 4 heads; {TOKENS} tokens, 10 classes");
    println!("flash     {} bytes: {} parameters", MicrocontrollerPlan::FLASH, MicrocontrollerPlan::PARAMETERS);
    println!(
        "memory    {} bytes with 4 tokens at a time, as on a microcontroller; {} here, with {}",
        MicrocontrollerPlan::RAM,
        Plan::<Digits, TOKENS>::RAM,
        constformer::TILE,
    );
    println!("work      {} multiply-adds an image\n", MicrocontrollerPlan::MACS);

    let shown: Vec<_> = examples().take(5).collect();
    draw(&shown);
    for example in &shown {
        print!("{:<19}", format!("{} (is {})", predict(&example.image, &mut memory)?, example.label));
    }
    println!("\n");

    let (mut right, mut all) = (0, 0);
    let start = Instant::now();
    for example in examples() {
        right += usize::from(predict(&example.image, &mut memory)? == example.label);
        all += 1;
    }
    let time = start.elapsed() / all;
    println!("accuracy  {right} of {all} held-out images: {:.1} %", 100.0 * right as f64 / f64::from(all));
    println!("time      {:.1} µs an image", time.as_secs_f64() * 1e6);
    Ok(())
}
