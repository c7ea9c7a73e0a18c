//! Checkpoints of llama2.c.

use super::{Checkpoint, LoadError, MetaLlama, checkpoint::Stored};
use crate::{
    activation::{Activation, Silu},
    hyperparameters::{Described, Hyperparameters},
    parameters::Parameters,
    rotation::Pairing,
};
use core::{error::Error, fmt};
use safetensors::Dtype;
use std::{borrow::Cow, format, string::String, vec, vec::Vec};

/// Fills `model` with a `.bin` checkpoint of [llama2.c](https://github.com/karpathy/llama2.c) ("version 0": 28 bytes of header,
/// then `f32`), after comparing the header with the model's type.
///
/// # Errors
///
/// [`LoadError::Llama2c`] if it is no such file, [`LoadError::Header`] if the header contradicts the type, or
/// [`LoadError::Tensors`]; then the model is as it was.
///
/// ```no_run
/// use constformer::{Decoder, LanguageModel, Llama, TokenEmbedding, boxed, load};
///
/// /// The stories260K of llama2.c: 5 layers, 64 features, 172 in the feed-forward layer, 8 heads on 4 of keys and values.
/// type Stories = LanguageModel<TokenEmbedding<512, 64>, Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;
///
/// let mut model = boxed::<Stories>();
/// load::llama2c(&std::fs::read("stories260K.bin")?, &mut *model)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn llama2c<M: Parameters + Described>(file: &[u8], model: &mut M) -> Result<(), LoadError> {
    Llama2cHeader::parse(file)?.check::<M>()?;
    Checkpoint::from_llama2c(file)?.load::<MetaLlama>(model)
}

/// The header of a `.bin` checkpoint of llama2.c.
///
/// The norms' ε (1e-5), the base of rotary positions (10000) and how they are paired
/// ([`Interleaved`](crate::Interleaved)) are not in the file: they are those of llama2.c's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Llama2cHeader {
    /// Features of a token: `dim`.
    pub d_model: usize,
    /// Features inside of feed-forward layers: `hidden_dim`.
    pub d_ff: usize,
    /// Number of blocks: `n_layers`.
    pub layers: usize,
    /// Heads of queries: `n_heads`.
    pub heads: usize,
    /// Heads of keys and values: `n_kv_heads`.
    pub kv_heads: usize,
    /// Token ids: `vocab_size`, which the file has negative if the head is not the embedding.
    pub vocabulary: usize,
    /// Whether the head is the embedding.
    pub tied: bool,
    /// The longest text of the training: `max_seq_len`.
    pub positions: usize,
}

/// What files of the later export begin with, "ak42" as a little-endian number.
const MAGIC: [u8; 4] = *b"24ka";

/// Bytes of the header.
const HEADER: usize = 7 * size_of::<i32>();

impl Llama2cHeader {
    /// Reads the header, and compares the length of the file with it.
    ///
    /// # Errors
    ///
    /// [`Llama2cError`] if there is no header, if its numbers cannot be, or if the file is longer or shorter than they say.
    pub fn parse(file: &[u8]) -> Result<Self, Llama2cError> {
        let Some(header) = file.first_chunk::<HEADER>() else {
            return Err(Llama2cError::Length { expected: HEADER as u128, found: file.len() });
        };
        if header.first_chunk() == Some(&MAGIC) {
            return Err(Llama2cError::Version);
        }
        let mut numbers = header.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes));
        let mut next = |key| {
            let found = numbers.next().unwrap_or_default();
            let size = if key == "vocab_size" { found.unsigned_abs() } else { found.max(0) as u32 };
            if size == 0 { Err(Llama2cError::Size { key, found }) } else { Ok((size as usize, found > 0)) }
        };
        let [(d_model, _), (d_ff, _), (layers, _)] = [next("dim")?, next("hidden_dim")?, next("n_layers")?];
        let [(heads, _), (kv_heads, _)] = [next("n_heads")?, next("n_kv_heads")?];
        let ((vocabulary, tied), (positions, _)) = (next("vocab_size")?, next("max_seq_len")?);
        let header = Self { d_model, d_ff, layers, heads, kv_heads, vocabulary, tied, positions };
        if d_model % heads != 0 || heads % kv_heads != 0 {
            return Err(Llama2cError::Heads { d_model, heads, kv_heads });
        }
        let expected = header.length();
        if expected != file.len() as u128 {
            return Err(Llama2cError::Length { expected, found: file.len() });
        }
        Ok(header)
    }

    /// Compares the header, and what all such checkpoints have in common, with the type `M`.
    ///
    /// # Errors
    ///
    /// [`LoadError::Header`] with all contradictions.
    pub fn check<M: Described>(&self) -> Result<(), LoadError> {
        let contradictions = M::HYPERPARAMETERS.contradictions(&self.hyperparameters());
        if contradictions.is_empty() { Ok(()) } else { Err(LoadError::Header(contradictions)) }
    }

    /// What the header says, and what llama2.c's program does.
    #[must_use]
    pub const fn hyperparameters(&self) -> Hyperparameters {
        Hyperparameters {
            layers: Some(self.layers),
            d_model: Some(self.d_model),
            d_ff: Some(self.d_ff),
            heads: Some(self.heads),
            kv_heads: Some(self.kv_heads),
            vocabulary: Some(self.vocabulary),
            norm_first: Some(true),
            rms_norm: Some(true),
            epsilon: Some(1e-5),
            causal: Some(true),
            activation: Some(Silu::NAME),
            gated: Some(true),
            pairing: Some(Pairing::Interleaved),
            theta: Some(10_000.0),
            ..Hyperparameters::NONE
        }
    }

    /// The tensors in the order of the file. After them there are two tables of rotary positions, which follow from θ, and then the
    /// head, if it is not the embedding.
    fn parts(&self) -> [Part; 11] {
        let Self { d_model, d_ff, vocabulary, heads, kv_heads, .. } = *self;
        let d_kv = d_model / heads * kv_heads;
        let whole = |name, shape: [usize; 2]| Part { name, layers: None, shape: shape.into() };
        let matrices = |name, shape: [usize; 2]| Part { name, layers: Some(self.layers), shape: shape.into() };
        let norms = |name| Part { name, layers: Some(self.layers), shape: vec![d_model] };
        [
            whole("tok_embeddings.weight", [vocabulary, d_model]),
            norms("attention_norm.weight"),
            matrices("attention.wq.weight", [d_model, d_model]),
            matrices("attention.wk.weight", [d_kv, d_model]),
            matrices("attention.wv.weight", [d_kv, d_model]),
            matrices("attention.wo.weight", [d_model, d_model]),
            norms("ffn_norm.weight"),
            matrices("feed_forward.w1.weight", [d_ff, d_model]),
            matrices("feed_forward.w2.weight", [d_model, d_ff]),
            matrices("feed_forward.w3.weight", [d_ff, d_model]),
            Part { name: "norm.weight", layers: None, shape: vec![d_model] },
        ]
    }

    /// Numbers in the two tables of rotary positions.
    const fn rotary(&self) -> u128 {
        2 * self.positions as u128 * (self.d_model / self.heads / 2) as u128
    }

    /// Bytes of the whole file; sizes are below 2³¹, so it fits a `u128`.
    fn length(&self) -> u128 {
        let parts = self.parts().iter().map(|part| part.layers.unwrap_or(1) as u128 * part.numbers()).sum::<u128>();
        let head = if self.tied { 0 } else { self.vocabulary as u128 * self.d_model as u128 };
        HEADER as u128 + size_of::<f32>() as u128 * (parts + self.rotary() + head)
    }
}

/// A tensor, or one for each layer, one after the other.
struct Part {
    name: &'static str,
    layers: Option<usize>,
    shape: Vec<usize>,
}

impl Part {
    /// Numbers of one.
    fn numbers(&self) -> u128 {
        self.shape.iter().map(|n| *n as u128).product()
    }
}

impl<'a> Checkpoint<'a> {
    /// The tensors of a `.bin` checkpoint of llama2.c, under the names that [`MetaLlama`] knows. [`llama2c`] does this and more:
    /// a number of heads is not to be seen in a tensor.
    ///
    /// # Errors
    ///
    /// [`LoadError::Llama2c`] if it is no such file.
    pub fn from_llama2c(file: impl Into<Cow<'a, [u8]>>) -> Result<Self, LoadError> {
        let file = file.into();
        let header = Llama2cHeader::parse(&file)?;
        let mut checkpoint = Self::default();
        // All within the file, whose length was compared.
        let bytes = |shape: &[usize]| size_of::<f32>() * shape.iter().product::<usize>();
        let mut add = |name: String, start: usize, shape: Vec<usize>| {
            let end = start + bytes(&shape);
            checkpoint.tensors.insert(name, Stored { dtype: Dtype::F32, shape, file: 0, bytes: start..end });
            end
        };
        let mut start = HEADER;
        for Part { name, layers, shape } in header.parts() {
            start = match layers {
                None => add(name.into(), start, shape),
                Some(n) => (0..n).fold(start, |start, i| add(format!("layers.{i}.{name}"), start, shape.clone())),
            };
        }
        if !header.tied {
            let shape = vec![header.vocabulary, header.d_model];
            add("output.weight".into(), file.len() - bytes(&shape), shape);
        }
        checkpoint.files.push(file);
        Ok(checkpoint)
    }
}

/// A file is no `.bin` checkpoint of llama2.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Llama2cError {
    /// It is longer or shorter than its header says.
    Length {
        /// Bytes by the header.
        expected: u128,
        /// Bytes of the file.
        found: usize,
    },
    /// It begins with `ak42`: a file of llama2.c's later export, which other programs read.
    Version,
    /// A number of the header is not above 0 (or, of `vocab_size`, is 0).
    Size {
        /// Its name in llama2.c.
        key: &'static str,
        /// The number.
        found: i32,
    },
    /// Heads do not divide the width, or heads of keys and values those of queries.
    Heads {
        /// `dim`
        d_model: usize,
        /// `n_heads`
        heads: usize,
        /// `n_kv_heads`
        kv_heads: usize,
    },
}

impl fmt::Display for Llama2cError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a llama2.c checkpoint, or damaged: ")?;
        match self {
            Self::Length { expected, found } => write!(f, "{expected} bytes expected, found {found}"),
            Self::Size { key, found } => write!(f, "{key} above 0 expected, found {found}"),
            Self::Heads { d_model, heads, .. } if d_model % heads != 0 => {
                write!(f, "n_heads that divide dim = {d_model} expected, found {heads}")
            }
            Self::Heads { heads, kv_heads, .. } => {
                write!(f, "n_kv_heads that divide n_heads = {heads} expected, found {kv_heads}")
            }
            Self::Version => f.write_str("a file without a version expected, found one of the later export"),
        }
    }
}

impl Error for Llama2cError {}

impl From<Llama2cError> for LoadError {
    fn from(error: Llama2cError) -> Self {
        Self::Llama2c(error)
    }
}
