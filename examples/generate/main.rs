//! `cargo run --release --features safetensors,tokenizers --example generate -- MODEL`: a language model writes, token by token,
//! from a cache of keys and values.
//!
//! MODEL is one of
//!
//! * a `.bin` checkpoint of llama2.c (stories260K, stories15M, 42M, 110M) with its tokenizer beside it, `tok512.bin` or
//!   `tokenizer.bin`;
//! * a folder of Hugging Face with `model.safetensors`, `config.json` and `tokenizer.json`: gpt2, SmolLM-135M;
//! * `shape:gpt2` or `shape:smollm`: random numbers in that shape, to see how fast it is.
//!
//! | option | default | |
//! |---|---|---|
//! | `--prompt TEXT` | none | what the text begins with |
//! | `--steps N` | 200 | tokens at most |
//! | `--temperature T` | 0 | 0 takes the most probable token |
//! | `--top-k K`, `--top-p P` | all | what is drawn from |
//! | `--repetition-penalty θ` | 1 | |
//! | `--seed N` | 1 | the same seed, the same text |

mod models;
mod options;
mod text;

use constformer::{CachedLayer, CachedMemory, Head, Incremental, LanguageModel, boxed};
use options::Options;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::{error::Error, io::Write, process::ExitCode, time::Instant};
use text::Text;

fn main() -> ExitCode {
    let result = Options::parse(std::env::args().skip(1)).map_err(Into::into).and_then(|options| models::run(&options));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes what `model` says, with a memory of `CAPACITY` tokens.
fn generate<E, L, const D_MODEL: usize, const VOCABULARY: usize, H, const CAPACITY: usize>(
    model: &LanguageModel<E, L, D_MODEL, VOCABULARY, H>,
    text: &mut dyn Text,
    options: &Options,
) -> Result<(), Box<dyn Error>>
where
    E: Incremental<D_MODEL, Input = u32>,
    L: CachedLayer<D_MODEL>,
    H: Head<E, D_MODEL, VOCABULARY>,
{
    let mut memory = boxed::<CachedMemory<LanguageModel<E, L, D_MODEL, VOCABULARY, H>, CAPACITY>>();
    let mut logits = boxed::<[f32; VOCABULARY]>();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut out = std::io::stdout().lock();

    let mut ids = text.prompt(&options.prompt)?;
    let prefill = Instant::now();
    model.extend(&ids, &mut memory, &mut logits)?;
    let (prompt, prefill) = (ids.len(), prefill.elapsed());
    write!(out, "{}", options.prompt)?;

    let start = Instant::now();
    let steps = options.steps.min(CAPACITY.saturating_sub(prompt - 1));
    for step in 0..steps {
        let id = options.sampler.sample(&mut logits[..], &ids, &mut rng)?;
        if text.is_end(id) {
            break;
        }
        write!(out, "{}", text.piece(ids.last().copied().unwrap_or_default(), id)?)?;
        out.flush()?;
        ids.push(id);
        if step + 1 < steps {
            model.extend(&[id], &mut memory, &mut logits)?;
        }
    }
    writeln!(out, "{}", text.rest())?;
    let (tokens, time) = (ids.len() - prompt, start.elapsed());
    eprintln!(
        "\nprompt of {prompt} tokens in {prefill:.1?}; {tokens} tokens in {time:.1?}, {:.1} tokens/s",
        tokens as f64 / time.as_secs_f64()
    );
    Ok(())
}
