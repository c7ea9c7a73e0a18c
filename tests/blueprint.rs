//! What the command line knows of a type by its text is what rustc knows of it.

mod common;

use constformer::{blueprint::Blueprint, typenum::*, *};

/// The text of a type as an image has it.
fn description<M: Parameters>() -> String {
    let mut bytes = vec![];
    image::encode(&*boxed::<M>(), |part| bytes.extend_from_slice(part));
    image::Info::parse(&bytes).unwrap().description.to_string()
}

fn check<M: Parameters>() -> Blueprint {
    let text = description::<M>();
    let blueprint = Blueprint::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(blueprint.fingerprint(), M::FINGERPRINT, "{text}");
    assert_eq!((blueprint.count(), blueprint.bytes()), (M::COUNT as u64, size_of::<M>() as u64), "{text}");
    let mut tensors = vec![];
    boxed::<M>().for_each_tensor(|name, tensor| tensors.push((name.to_string(), tensor.shape())));
    assert_eq!(blueprint.tensors(), tensors, "{text}");

    // What it is called here is the same type.
    let short = blueprint.expression().to_string();
    assert!(!short.contains("UInt"), "{short}");
    assert_eq!(Blueprint::parse(&short).unwrap().fingerprint(), M::FINGERPRINT, "{short}");
    blueprint
}

/// And what it costs.
fn check_model<M: Model>() -> Blueprint {
    let blueprint = check::<M>();
    let text = description::<M>();
    let memory = |len, tile| blueprint.memory(len, tile).unwrap_or_else(|| panic!("{text} has no memory"));
    assert_eq!(memory(1, 1), size_of::<Memory<M, 1, 1>>() as u64, "{text}");
    assert_eq!(memory(11, 4), size_of::<Memory<M, 11, 4>>() as u64, "{text}");
    assert_eq!(memory(2, 13), size_of::<Memory<M, 2, 13>>() as u64, "{text}");
    assert_eq!(memory(101, TILE as u64), size_of::<Memory<M, 101>>() as u64, "{text}");
    for len in [0, 1, 2, 17, 1000] {
        assert_eq!(blueprint.macs(len), Some(M::MACS.total(len)), "{text}, {len} tokens");
    }
    blueprint
}

/// And what it costs to go on.
fn check_cached<M: CachedModel + Described>() {
    check_described::<M>();
    let blueprint = check_model::<M>();
    assert_eq!(blueprint.cached_memory(1, 1), Some(size_of::<CachedMemory<M, 1, 1>>() as u64));
    assert_eq!(blueprint.cached_memory(17, 4), Some(size_of::<CachedMemory<M, 17, 4>>() as u64));
    assert_eq!(blueprint.cached_memory(512, TILE as u64), Some(size_of::<CachedMemory<M, 512>>() as u64));
}

fn check_described<M: Model + Described>() {
    assert_eq!(*check_model::<M>().hyperparameters(), M::HYPERPARAMETERS, "{}", description::<M>());
}

#[test]
fn formats() {
    check::<Linear<7, 5, Int8>>();
    check::<Linear<7, 5, Int4>>();
    check::<Linear<32, 3, Int4>>();
    check::<Linear<1, 3, Int4>>();
    check::<Linear<33, 7, Int4, NoBias>>();
    check::<Linear<2047, 2, Int4, NoBias>>();
    check::<Linear<2064, 5, Int4>>();
    check_described::<Classifier<PatchEmbedding<5, 12, 17, Int4>, Encoder<Kwt, 2, 12, 21, 1, Int4>, 12, 7, Mean, Int4>>(
    );
    check::<Linear<5, 3, Int8, NoBias>>();
    check_model::<EncoderBlock<Vit, 12, 20, 4, Int8>>();
    check_model::<Encoder<Bert, 3, 12, 21, 4, Int8>>();
    check::<DecoderBlock<Gpt2, 12, 20, 4, Int8>>();
    check_described::<Classifier<PatchEmbedding<5, 12, 17, Int8>, Encoder<Kwt, 2, 12, 21, 1, Int8>, 12, 7, Mean, Int8>>(
    );
    check::<Transformer<Vaswani, 1, 12, 20, 4, 11, 13, Int8>>();
}

#[test]
fn parts_of_layers() {
    check::<Linear<7, 5>>();
    check::<Linear<7, 5, f32, NoBias>>();
    check::<LayerNorm<11>>();
    check::<LayerNorm<11, U12, NoBias>>();
    check::<RmsNorm<11>>();
    check::<RmsNorm<13, U5>>();
    check::<NoNorm>();
    check::<TokenEmbedding<19, 6>>();
    check::<TextEmbedding<19, 6, 23>>();
    check::<BertEmbedding<19, 6, 23>>();
    check::<BertEmbedding<19, 6, 23, 1, U5>>();
    check::<PatchEmbedding<13, 6, 11>>();
    check::<SinusoidalEmbedding<19, 6, 23>>();
}

macro_rules! families {
    ($($family:ty),* $(,)?) => { $(
        check_model::<EncoderBlock<$family, 21, 13, 3>>();
        check_described::<Encoder<$family, 2, 22, 37, 11>>();
        check_model::<[EncoderBlock<$family, 14, 9, 7>; 3]>();
        check::<CrossDecoder<$family, 3, 21, 10, 7>>();
        check::<CrossBlock<$family, 22, 10, 2>>();
        check_described::<Encoder<Masked<$family, Causal>, 2, 21, 37, 1>>();
        check_described::<Encoder<Masked<$family, Bidirectional>, 1, 21, 37, 21>>();
        check_described::<Decoder<Masked<$family, Causal>, 2, 24, 37, 6, f32, 2, 8>>();
        check_model::<DecoderBlock<Masked<$family, Causal>, 30, 7, 5>>();
    )* };
}

#[test]
fn families_of_the_library() {
    families!(Vaswani, Bert, Gpt2, Vit, Kwt);
}

#[test]
fn families_with_arguments() {
    families!(
        Llama,
        Llama<HalfSplit>,
        Llama<HalfSplit<U1000>, U6>,
        Llama<Interleaved<Prod<U500, U1000>>, U8>,
        Custom<PostLn, Relu>,
        Custom<PreLn, Gelu, WithFinalNorm>,
        Custom<PreLn, GeluTanh, NoFinalNorm, U12, NoBias>,
        Custom<PostLn, Silu, WithFinalNorm, U6, NoBias>,
    );
}

#[test]
fn decoders_by_their_defaults() {
    check_described::<Decoder<Gpt2, 2, 21, 13, 3>>();
    check_described::<Decoder<Llama, 3, 24, 37, 6>>();
    check_model::<DecoderBlock<Llama<HalfSplit, U6>, 24, 37, 6, f32, 1, 4>>();
    check_model::<[DecoderBlock<Gpt2, 24, 37, 6, f32, 3, 12>; 2]>();
}

#[test]
fn whole_models() {
    type Head = Linear<24, 53, f32, NoBias>;

    check_described::<TextEncoder<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22>>();
    check_described::<TextEncoder<BertEmbedding<53, 21, 17, 1, U5>, Encoder<Custom<PostLn, Gelu>, 2, 21, 35, 3>, 21>>();
    check_described::<TextEncoder<TextEmbedding<53, 22, 17>, Encoder<Vit, 2, 22, 37, 2>, 22, FirstToken>>();
    check_described::<LanguageModel<TextEmbedding<53, 21, 17>, Encoder<Gpt2, 2, 21, 84, 3>, 21, 53>>();
    check_cached::<LanguageModel<TextEmbedding<53, 21, 17>, Decoder<Gpt2, 2, 21, 84, 3>, 21, 53>>();
    check_described::<LanguageModel<BertEmbedding<53, 21, 17>, Decoder<Gpt2, 2, 21, 84, 3>, 21, 53, Linear<21, 53>>>();
    check_cached::<
        LanguageModel<TokenEmbedding<53, 24>, Decoder<Llama<HalfSplit>, 2, 24, 37, 6, f32, 2, 8>, 24, 53, Head>,
    >();
    check_described::<LanguageModel<TokenEmbedding<59, 24>, Decoder<Llama, 2, 24, 37, 6>, 24, 53, Head>>();
    check_described::<Classifier<PatchEmbedding<13, 6, 11>, Encoder<Kwt, 2, 6, 5, 3>, 6, 7>>();
    check_described::<Classifier<PatchEmbedding<13, 6, 11>, Encoder<Vit, 2, 6, 5, 3>, 6, 7, Mean>>();
    check_described::<Classifier<TokenEmbedding<13, 6>, Decoder<Gpt2, 2, 6, 5, 3>, 6, 7, Mean>>();
    check_model::<Classifier<TokenEmbedding<13, 6>, [EncoderBlock<Gpt2, 6, 5, 3>; 2], 6, 7>>();
    check_described::<Transformer<Vaswani, 3, 22, 37, 2, 53, 17>>();
    check_described::<Transformer<Custom<PreLn, Gelu, WithFinalNorm>, 2, 21, 13, 7, 53, 19>>();
    check_cached::<LanguageModel<SinusoidalEmbedding<53, 21, 17>, Decoder<Gpt2, 2, 21, 84, 3>, 21, 53>>();
    check_model::<MaskedLanguageModel<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 53>>();
    check_model::<MaskedLanguageModel<BertEmbedding<53, 22, 17>, Encoder<Bert, 2, 22, 37, 2>, 22, 53, U5, Silu>>();
    // Of a real size: MiniLM.
    check_described::<TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>>();
}

#[test]
fn models_without_a_cache() {
    let cached = |blueprint: Blueprint| blueprint.cached_memory(17, 4);
    assert_eq!(cached(check_model::<Decoder<Gpt2, 2, 21, 84, 3>>()), None);
    assert_eq!(cached(check_model::<Classifier<TokenEmbedding<13, 6>, Decoder<Gpt2, 2, 6, 5, 3>, 6, 7>>()), None);
    assert_eq!(cached(check_model::<LanguageModel<TextEmbedding<13, 6, 5>, Encoder<Gpt2, 2, 6, 5, 3>, 6, 13>>()), None);
    assert_eq!(cached(check_model::<LanguageModel<BertEmbedding<13, 6, 5>, Decoder<Gpt2, 2, 6, 5, 3>, 6, 13>>()), None);
}

/// A `Custom` family with the parts of another is that one: the same images fit.
#[test]
fn custom_families() {
    assert_eq!(
        Encoder::<Custom<PostLn, Gelu, NoFinalNorm, U12>, 2, 21, 13, 3>::FINGERPRINT,
        Encoder::<Bert, 2, 21, 13, 3>::FINGERPRINT
    );
    assert_eq!(
        Encoder::<Masked<Custom<PreLn, GeluTanh, WithFinalNorm>, Causal>, 2, 21, 13, 3>::FINGERPRINT,
        Encoder::<Gpt2, 2, 21, 13, 3>::FINGERPRINT
    );
}

#[test]
fn texts_as_people_write_them() {
    let same = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|text| Blueprint::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")));
        assert_eq!(a.fingerprint(), b.fingerprint());
    };
    same("constformer::Linear< 3_0,5usize , f32, constformer::bias::NoBias,>", "Linear<30, 5, f32, NoBias>");
    same("LayerNorm<7>", "LayerNorm<7, UInt<UInt<UInt<UTerm, B1>, B0>, B1>, WithBias>");
    same(
        "Classifier<PatchEmbedding<4, 32, 17, f32>, Encoder<Vit, 2, 32, 96, 4, f32>, 32, 10, FirstToken, f32>",
        "Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>",
    );
    same(
        "LanguageModel<TokenEmbedding<5, 6>, Decoder<Llama<Interleaved<U10000>, U5>, 2, 6, 7, 3, f32, 3, 6>, 6, 5, Tied>",
        "LanguageModel<TokenEmbedding<5, 6>, Decoder<Llama, 2, 6, 7, 3>, 6, 5>",
    );
    same("Encoder<Custom<PostLn, Gelu, NoFinalNorm, U12, WithBias>, 1, 6, 7, 3>", "Encoder<Bert, 1, 6, 7, 3>");
    same("BertEmbedding<5, 6, 7, 2, U12>", "BertEmbedding<5, 6, 7>");
    same("[ EncoderBlock<Bert,6,5,3> ; 2 ]", "[EncoderBlock<Bert, 6, 5, 3, f32>; 2]");
}

#[test]
fn texts_that_are_no_types() {
    let error = |text: &str| match Blueprint::parse(text) {
        Ok(_) => panic!("{text} is a type"),
        Err(error) => error.to_string(),
    };
    for (text, expected) in [
        ("", "not a type: the name of a type expected, found the end"),
        ("Linear<3, 5", "not a type: `,` or `>` expected, found the end"),
        ("Linear<3, 5>>", "not a type: the end expected, found `>`"),
        ("[Linear<3, 5>, 2]", "not a type: `;` expected, found `, 2]`"),
        ("Linear<3x, 5>", "not a type: a number expected, found `3x`"),
        ("Linear<99999999999999999999, 5>", "not a type: a number expected, found `99999999999999999999`"),
        ("Linear<3>", "`Linear` has no argument `OUT`"),
        ("Linear<3, 0>", "`Linear`: a number of 1 to 16777216 expected for `OUT`, found `0`"),
        ("Linear<3, 5, f32, NoBias, 7>", "`Linear` has no use for the argument `7`"),
        ("LayerNorm<3, U17>", "`LayerNorm`: `U0` to `U16` expected for `E`, found `U17`"),
        ("Linear<3, 5, f16>", "`f16` is no type of this library"),
        ("Mine", "`Mine` is no type of this library"),
        ("Encoder<Mine, 2, 21, 13, 3>", "`Mine` is no type of this library"),
        ("Encoder<Bert, 2, 21, 13, 4>", "4 heads do not divide a model width (`D_MODEL`) of 21"),
        ("Encoder<Bert, 2, 2049, 13, 1>", "widths are 1 to 2048, then the multiples of 16 up to 16384, found 2049"),
        ("Encoder<Bert, 2, 21, 2049, 1>", "widths are 1 to 2048, then the multiples of 16 up to 16384, found 2049"),
        ("Linear<16400, 1>", "widths are 1 to 2048, then the multiples of 16 up to 16384, found 16400"),
        ("Linear<8304, 1, Int4>", "a matrix in `Int4` has up to 8288 inputs, found 8304"),
        ("Decoder<Bert, 2, 21, 13, 3>", "`Decoder` wants a causal family, found `Decoder<Bert, 2, 21, 13, 3>`"),
        ("Decoder<Gpt2, 2, 24, 7, 6, f32, 4, 16>", "4 heads of key and value do not divide 6 heads of the query"),
        (
            "Decoder<Gpt2, 2, 24, 7, 6, f32, 2, 9>",
            "2 heads of key and value, of 24 / 6 columns each, do not make `D_KV` = 9 columns",
        ),
        (
            "Classifier<TokenEmbedding<5, 7>, Encoder<Bert, 2, 6, 5, 3>, 6, 4>",
            "`Classifier`: embedding of width 6 (`D_MODEL`) expected, found one of 7",
        ),
        (
            "Classifier<TokenEmbedding<5, 6>, Encoder<Bert, 2, 7, 5, 7>, 6, 4>",
            "`Classifier`: stack of width 6 (`D_MODEL`) expected, found one of 7",
        ),
        (
            "MaskedLanguageModel<TokenEmbedding<5, 6>, Encoder<Bert, 2, 6, 5, 3>, 6, 4>",
            "`MaskedLanguageModel` wants an embedding of 4 tokens, found one of 5",
        ),
        ("Transformer<Gpt2, 2, 6, 5, 3, 7, 8>", "`Transformer` wants a bidirectional family, found `Gpt2`"),
        ("Transformer<Bert, 2, 6, 5, 4, 7, 8>", "4 heads do not divide a model width (`D_MODEL`) of 6"),
        (
            "LanguageModel<TokenEmbedding<5, 6>, Encoder<Gpt2, 2, 6, 5, 3>, 6, 4>",
            "a tied head wants an embedding of 4 tokens, found one of 5",
        ),
        (
            "LanguageModel<TokenEmbedding<5, 6>, Encoder<Gpt2, 2, 6, 5, 3>, 6, 4, Linear<4, 6>>",
            "a head `Linear<6, 4>` expected, found `Linear<4, 6>`",
        ),
    ] {
        assert_eq!(error(text), expected);
    }
    let large = "Encoder<Bert, 16777216, 16384, 16777216, 1>";
    assert_eq!(error(large), format!("`{large}` has more parameters than any machine holds"));
    let stack = format!("[[{large}; 65535]; 65535]");
    assert!(error(&stack).ends_with(" has more parameters than any machine holds"));
    let small = "[[[[EncoderBlock<Gpt2, 1, 1, 1>; 65535]; 65535]; 65535]; 65535]";
    assert!(error(small).ends_with(" has more parameters than any machine holds"));
    assert!(error(&"[".repeat(100_000)).starts_with("not a type: a type that ends expected"));
}
