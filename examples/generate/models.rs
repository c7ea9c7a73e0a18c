//! The models that there is a type for.

use super::{
    generate,
    options::Options,
    text::{FromJson, Ids, Llama2c},
};
use constformer::{
    Boxed, CachedLayer, Decoder, Described, Gpt2, HalfSplit, Head, Incremental, LanguageModel, Llama, Parameters,
    TextEmbedding, TokenEmbedding, boxed,
    load::{Checkpoint, HuggingFaceGpt2, HuggingFaceLlama, Llama2cHeader, Scheme, check_config, llama2c},
    tokenizer::{HuggingFace, Utf8, Vocabulary},
};
use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};
use std::{error::Error, fs, path::Path};

/// Of llama2.c: LAYERS, D_MODEL, D_FF, HEADS, KV_HEADS, D_KV; VOCABULARY.
type Stories<
    const N: usize,
    const D: usize,
    const D_FF: usize,
    const H: usize,
    const KV: usize,
    const D_KV: usize,
    const V: usize,
> = LanguageModel<TokenEmbedding<V, D>, Decoder<Llama, N, D, D_FF, H, f32, KV, D_KV>, D, V>;
type Stories260K = Stories<5, 64, 172, 8, 4, 32, 512>;
type Stories15M = Stories<6, 288, 768, 6, 6, 288, 32_000>;
type Stories42M = Stories<8, 512, 1376, 8, 8, 512, 32_000>;
type Stories110M = Stories<12, 768, 2048, 12, 12, 768, 32_000>;

/// 124 million parameters.
type Gpt2Small = LanguageModel<TextEmbedding<50_257, 768, 1024>, Decoder<Gpt2, 12, 768, 3072, 12>, 768, 50_257>;
/// 135 million parameters, nine heads on three of keys and values.
type SmolLm =
    LanguageModel<TokenEmbedding<49_152, 576>, Decoder<Llama<HalfSplit>, 30, 576, 1536, 9, f32, 3, 192>, 576, 49_152>;

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    match options.model.as_str() {
        "shape:gpt2" => shape::<_, _, 768, 50_257, _>(&*random::<Gpt2Small>(), options),
        "shape:smollm" => shape::<_, _, 576, 49_152, _>(&*random::<SmolLm>(), options),
        path if Path::new(path).is_dir() => hugging_face(Path::new(path), options),
        path => stories(Path::new(path), options),
    }
}

fn stories(path: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let file = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let header = Llama2cHeader::parse(&file)?;
    let tokenizer = path.with_file_name(if header.vocabulary == 512 { "tok512.bin" } else { "tokenizer.bin" });
    let tokenizer = fs::read(&tokenizer).map_err(|error| format!("{}: {error}", tokenizer.display()))?;
    if header.check::<Stories260K>().is_ok() {
        story::<_, _, 64, 512, _, 512>(&*of_file::<Stories260K>(&file)?, &tokenizer, options)
    } else if header.check::<Stories15M>().is_ok() {
        story::<_, _, 288, 32_000, _, 256>(&*of_file::<Stories15M>(&file)?, &tokenizer, options)
    } else if header.check::<Stories42M>().is_ok() {
        story::<_, _, 512, 32_000, _, 1024>(&*of_file::<Stories42M>(&file)?, &tokenizer, options)
    } else if header.check::<Stories110M>().is_ok() {
        story::<_, _, 768, 32_000, _, 1024>(&*of_file::<Stories110M>(&file)?, &tokenizer, options)
    } else {
        Err(format!("stories260K, 15M, 42M or 110M expected, found {header:?}").into())
    }
}

fn of_file<M: Parameters + Described>(file: &[u8]) -> Result<Boxed<M>, Box<dyn Error>> {
    let mut model = boxed::<M>();
    llama2c(file, &mut *model)?;
    Ok(model)
}

fn story<E, L, const D: usize, const V: usize, H, const CAPACITY: usize>(
    model: &LanguageModel<E, L, D, V, H>,
    tokenizer: &[u8],
    options: &Options,
) -> Result<(), Box<dyn Error>>
where
    E: Incremental<D, Input = u32>,
    L: CachedLayer<D>,
    H: Head<E, D, V>,
{
    let vocabulary = Box::new(Vocabulary::parse(tokenizer)?);
    let mut text = Llama2c::<V> { vocabulary, utf8: Utf8::new() };
    generate::<_, _, D, V, _, CAPACITY>(model, &mut text, options)
}

fn hugging_face(folder: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let config = folder.join("config.json");
    let config = fs::read(&config).map_err(|error| format!("{}: {error}", config.display()))?;
    match (check_config::<Gpt2Small>(&config), check_config::<SmolLm>(&config)) {
        (Ok(()), _) => of_folder::<_, _, 768, 50_257, _, HuggingFaceGpt2>(&mut *boxed::<Gpt2Small>(), folder, options),
        (_, Ok(())) => of_folder::<_, _, 576, 49_152, _, HuggingFaceLlama>(&mut *boxed::<SmolLm>(), folder, options),
        (Err(gpt2), Err(smollm)) => Err(format!("neither gpt2: {gpt2}\nnor SmolLM-135M: {smollm}").into()),
    }
}

fn of_folder<E, L, const D: usize, const V: usize, H, S: Scheme>(
    model: &mut LanguageModel<E, L, D, V, H>,
    folder: &Path,
    options: &Options,
) -> Result<(), Box<dyn Error>>
where
    E: Incremental<D, Input = u32>,
    L: CachedLayer<D>,
    H: Head<E, D, V>,
{
    Checkpoint::open(folder)?.load::<S>(model)?;
    let tokenizer = HuggingFace::<V>::open(folder)?;
    let mut text = FromJson { tokenizer: &tokenizer, pieces: tokenizer.pieces(true) };
    generate::<_, _, D, V, _, 1024>(model, &mut text, options)
}

/// A model whose numbers are random.
fn random<M: Parameters>() -> Boxed<M> {
    let mut model = boxed::<M>();
    let mut rng = SplitMix64::seed_from_u64(1);
    model.for_each_tensor_mut(|_, mut tensor| {
        let scale = 1.0 / (tensor.shape().dimensions().last().copied().unwrap_or(1) as f32).sqrt();
        tensor.stored_mut().fill_with(|| scale * (rng.next_u32() as f32 / u32::MAX as f32 - 0.5));
    });
    model
}

fn shape<E, L, const D: usize, const V: usize, H>(
    model: &LanguageModel<E, L, D, V, H>,
    options: &Options,
) -> Result<(), Box<dyn Error>>
where
    E: Incremental<D, Input = u32>,
    L: CachedLayer<D>,
    H: Head<E, D, V>,
{
    generate::<_, _, D, V, _, 1024>(model, &mut Ids, options)
}
