//! The models, as types, and their working memory: four tokens at a time, as on a microcontroller also on a host.

use constformer::{
    CachedMemory, Classifier, Decoder, Encoder, FirstToken, Int4, Int8, Int8Cache, Int8Stream, IntegerOnly, Kwt,
    LanguageModel, Llama, Memory, PatchEmbedding, TokenEmbedding, Vit,
};

/// The vision transformer of the example `digits`.
pub type Digits = Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>;
/// Its working memory.
pub type DigitsMemory = Memory<Digits, 17, 4>;

/// KWT-1, the keyword transformer, or one of fewer layers.
pub type Kws<const LAYERS: usize = 12, T = f32> =
    Classifier<PatchEmbedding<40, 64, 99, T>, Encoder<Kwt, LAYERS, 64, 256, 1, T>, 64, 12, FirstToken, T>;
/// The same in integers of 8 bits.
pub type KwsInt8 = Kws<12, Int8>;
/// The same in integers of 4 bits.
pub type KwsInt4 = Kws<12, Int4>;
/// The weights in 8 bits, and keys, values and the tokens between layers in 8 bits as well.
pub type KwsSmall = Kws<12, Int8Stream<Int8Cache<Int8>>>;
/// The same weights, and no floating-point numbers.
pub type KwsIntegers = Kws<12, Int8Stream<IntegerOnly<Int8>>>;
/// The working memory.
pub type KwsMemory<T = f32> = Memory<Kws<12, T>, 99, 4>;
/// What it is given.
pub type KwsInput = [[f32; 40]; 98];

/// stories260K of llama2.c.
pub type Stories = LanguageModel<TokenEmbedding<512, 64>, Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>, 64, 512>;
/// Its working memory, for this many tokens.
pub type StoriesMemory<const CAPACITY: usize> = CachedMemory<Stories, CAPACITY, 1>;

/// The class of the word.
pub const YES: usize = 2;
