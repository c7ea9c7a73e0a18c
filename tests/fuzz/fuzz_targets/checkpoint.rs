//! Safetensors files, in one shard or two: those of a valid checkpoint with faults, and any bytes at all.

#![no_main]

use arbitrary::Arbitrary;
use constformer::{load::*, typenum::U5, *};
use fuzz::checkpoint::{Edit, Tensor, files, valid};
use libfuzzer_sys::fuzz_target;
use std::{marker::PhantomData, sync::LazyLock};

type Blocks = Decoder<Llama<HalfSplit, U5>, 2, 6, 5, 3, f32, 1, 2>;
type BertModel = TextEncoder<BertEmbedding<7, 6, 5>, Encoder<Bert, 2, 6, 11, 2>, 6>;
type GptModel = LanguageModel<TextEmbedding<7, 6, 5>, Encoder<Gpt2, 2, 6, 11, 2>, 6, 7>;
type LlamaModel = LanguageModel<TokenEmbedding<7, 6>, Blocks, 6, 7>;
type Untied = LanguageModel<TokenEmbedding<7, 6>, Blocks, 6, 7, Linear<6, 7, f32, NoBias>>;
type Classes = Classifier<PatchEmbedding<3, 6, 5>, Encoder<Vit, 1, 6, 11, 2>, 6, 2>;

model! {
    /// An encoder and a decoder.
    pub struct Translator {
        encoder: Encoder<Vaswani, 1, 6, 11, 2>,
        decoder: CrossDecoder<Vaswani, 1, 6, 11, 2>,
    }
}

/// A model with a scheme of its names.
trait Case: Send + Sync {
    fn tensors(&self) -> &[Tensor];
    fn load(&self, shards: &[&[u8]], part: Option<&str>) -> bool;
}

struct Of<M, S>(Vec<Tensor>, PhantomData<fn() -> (M, S)>);

impl<M: Parameters, S: Scheme> Of<M, S> {
    fn case() -> Box<dyn Case>
    where
        M: 'static,
        S: 'static,
    {
        Box::new(Self(valid::<M, S>(), PhantomData))
    }
}

impl<M: Parameters, S: Scheme> Case for Of<M, S> {
    fn tensors(&self) -> &[Tensor] {
        &self.0
    }

    fn load(&self, shards: &[&[u8]], part: Option<&str>) -> bool {
        let result = fuzz::load::<M>(shards.iter().map(|shard| shard.len()).sum(), |model| {
            let mut checkpoint = Checkpoint::from_shards(shards.iter().copied())?;
            if let Some(part) = part {
                checkpoint = checkpoint.part(part).without("bert.");
            }
            checkpoint.load::<S>(model)
        });
        result.is_ok()
    }
}

static CASES: LazyLock<[Box<dyn Case>; 14]> = LazyLock::new(|| {
    [
        Of::<BertModel, HuggingFaceBert>::case(),
        Of::<BertModel, HuggingFaceRoberta>::case(),
        Of::<BertModel, Native>::case(),
        Of::<GptModel, HuggingFaceGpt2>::case(),
        Of::<GptModel, NanoGpt>::case(),
        Of::<GptModel, Native>::case(),
        Of::<LlamaModel, HuggingFaceLlama>::case(),
        Of::<LlamaModel, MetaLlama>::case(),
        Of::<Untied, HuggingFaceLlama>::case(),
        Of::<Untied, MetaLlama>::case(),
        Of::<Encoder<Vaswani, 2, 6, 11, 2>, TorchEncoder>::case(),
        Of::<CrossDecoder<Vaswani, 1, 6, 11, 2>, TorchDecoder>::case(),
        Of::<Translator, TorchTransformer>::case(),
        Of::<Classes, Native>::case(),
    ]
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    case: u8,
    part: Option<&'a str>,
    edits: Vec<Edit>,
    /// What is written over a byte of a file, and where.
    damage: Vec<(bool, u16, u8)>,
    /// Instead of all that.
    raw: Option<(&'a [u8], &'a [u8])>,
}

fuzz_target!(|input: Input| {
    let case = &CASES[usize::from(input.case) % CASES.len()];
    if let Some((first, second)) = input.raw {
        case.load(&[first], input.part);
        case.load(&[first, second], input.part);
        return;
    }
    let mut tensors = case.tensors().to_vec();
    input.edits.iter().take(64).for_each(|edit| edit.apply(&mut tensors));
    let mut files = files(&tensors);
    for (second, at, byte) in &input.damage {
        let file = &mut files[usize::from(*second)];
        let at = usize::from(*at) % file.len();
        file[at] = *byte;
    }
    let loaded = case.load(&[&files[0], &files[1]], input.part);
    if input.edits.iter().all(|edit| matches!(edit, Edit::Move(_))) && input.damage.is_empty() && input.part.is_none() {
        assert!(loaded, "a valid checkpoint is refused");
    }
});
