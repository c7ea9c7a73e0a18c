//! What is known of a model before it runs: its bytes, its costs, its fingerprint.

use constformer::*;
use static_assertions::{assert_impl_all, const_assert_eq};
use std::sync::Mutex;
use typenum::{U3, U5, U6, U12};

/// Pre-LN, RMSNorm, SwiGLU, causal, no biases at all.
#[derive(Clone, Copy)]
struct Unbiased;

impl Family for Unbiased {
    type Placement = PreLn;
    type Norm<const D_MODEL: usize> = RmsNorm<D_MODEL>;
    type FinalNorm<const D_MODEL: usize> = RmsNorm<D_MODEL>;
    type Mask = Causal;
    type Rotation = constformer::NoRotation;
    type InputBias = NoBias;
    type OutputBias = NoBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

model! {
    /// A model of one's own.
    struct Own {
        embedding: TextEmbedding<101, 7, 13>,
        encoder: Encoder<Unbiased, 3, 7, 11, 1>,
        gain: [f32; 5],
        head: Linear<7, 3>,
    }
}

/// Exactly the parameters, as 32-bit numbers one after the other: no padding, no pointer, no length.
macro_rules! exactly_the_parameters {
    ($($model:ty),* $(,)?) => { $(
        const_assert_eq!(size_of::<$model>(), 4 * <$model as Parameters>::COUNT);
        const_assert_eq!(align_of::<$model>(), 4);
        no_more_than_the_parameters!($model);
    )* };
}

macro_rules! no_more_than_the_parameters {
    ($($model:ty),* $(,)?) => { $(
        assert_impl_all!($model: Plain, Parameters, Zero, Send, Sync);
        const _: () = { static _MODEL: $model = Zero::ZERO; };
    )* };
}

exactly_the_parameters! {
    [f32; 7], [[f32; 7]; 3], Table<5, 7>, Panels<7, 5>, Panels<1, 1>, Panels<33, 63>,
    Linear<7, 5>, Linear<7, 5, f32, NoBias>, Linear<1, 1>, Linear<129, 31>, [Linear<7, 5>; 3],
    LayerNorm<7>, LayerNorm<7, U12, NoBias>, RmsNorm<7>, RmsNorm<1, U3>,
    FeedForward<7, 11, Gelu>, FeedForward<7, 11, Relu, f32, NoBias>,
    GatedFeedForward<7, 11, Silu>, GatedFeedForward<7, 11, Silu, f32, NoBias>,
    MultiHeadAttention<Bert, 21, 7>, MultiHeadAttention<Kwt, 7, 1>, MultiHeadAttention<Unbiased, 15, 3>,
    EncoderBlock<Vaswani, 21, 11, 7>, EncoderBlock<Bert, 15, 31, 5>, EncoderBlock<Gpt2, 1, 1, 1>,
    EncoderBlock<Vit, 33, 65, 11>, EncoderBlock<Kwt, 7, 13, 1>, EncoderBlock<Unbiased, 35, 3, 5>,
    [EncoderBlock<Bert, 15, 31, 5>; 3],
    Encoder<Vaswani, 2, 21, 11, 7>, Encoder<Bert, 3, 15, 31, 5>, Encoder<Gpt2, 5, 1, 1, 1>,
    Encoder<Vit, 7, 33, 65, 11>, Encoder<Kwt, 12, 64, 256, 1>, Encoder<Unbiased, 1, 35, 3, 5>,
    LearnedPositions<7, 13>, TokenEmbedding<101, 7>, TextEmbedding<101, 7, 13>, PatchEmbedding<5, 7, 13>,
    Classifier<PatchEmbedding<5, 15, 13>, Encoder<Bert, 3, 15, 31, 5>, 15, 3>,
    Classifier<TextEmbedding<101, 33, 13>, Encoder<Vit, 2, 33, 65, 11>, 33, 2, Mean>,
    Own,
}

// A scale for each output, integers, no more than three bytes to align what follows; in 4 bits a factor for each 32 inputs.
no_more_than_the_parameters! {
    Linear<7, 5, Int8>, Linear<7, 5, Int4>, Linear<1, 1, Int4, NoBias>, FeedForward<7, 67, Gelu, Int4>,
    MultiHeadAttention<Bert, 21, 7, Int4>, Encoder<Vit, 7, 33, 65, 11, Int4>, Encoder<Unbiased, 1, 35, 3, 5, Int4>,
    Classifier<PatchEmbedding<5, 15, 13, Int4>, Encoder<Bert, 3, 15, 31, 5, Int4>, 15, 3, FirstToken, Int4>,
}
const_assert_eq!(size_of::<Linear<7, 5, Int8, NoBias>>(), 4 * 5 + 7 * 5 + 1);
const_assert_eq!(size_of::<Linear<1, 1, Int4, NoBias>>(), 4 + 1 + 1 + 2);
const_assert_eq!(size_of::<Linear<32, 4, Int4, NoBias>>(), 4 * (4 + 1 + 16));
const_assert_eq!(size_of::<Linear<33, 4, Int4, NoBias>>(), 4 * (4 + 2 + 17));
const_assert_eq!(size_of::<Linear<64, 3, Int4>>(), 3 * (4 + 2 + 32) + 2 + 4 * 3);
const_assert_eq!(size_of::<Linear<2048, 4, Int4>>(), 4 * (4 + 64 + 1024 + 4));
const_assert_eq!(size_of::<Linear<2064, 4, Int4>>(), 4 * (4 + 65 + 1032 + 4));

// Without parameters there is nothing to align.
no_more_than_the_parameters!(Nothing, NoNorm, [NoNorm; 3]);
const_assert_eq!(size_of::<Nothing>() + size_of::<NoNorm>(), 0);
const_assert_eq!(size_of::<Encoder<Bert, 3, 15, 31, 5>>(), 3 * size_of::<EncoderBlock<Bert, 15, 31, 5>>());

// Working memory can be a static, be shared, and be sent to another thread.
assert_impl_all!(Sequence<7, 13>: Zero, Send, Sync);
assert_impl_all!(Scratch<7, 11, 13>: Zero, Send, Sync);
assert_impl_all!(Memory<Encoder<Bert, 3, 15, 31, 5>, 13>: Zero, Send, Sync);
static _MEMORY: Mutex<Memory<Encoder<Bert, 3, 15, 31, 5>, 13>> = Mutex::new(Zero::ZERO);

/// KWT-1 of the keyword transformer.
type Kwt1 = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>;
type Kwt1Plan = Plan<Kwt1, 99, 4>;

// Parameters
//
//   projection    40 · 64 + 64                                2 624
//   class token   64                                             64
//   positions     99 · 64                                     6 336
//   12 blocks                                               597 504
//     q, k, v     3 · 64 · 64                    12 288
//     output      64 · 64 + 64                    4 160
//     inner       64 · 256 + 256                 16 640
//     outer       256 · 64 + 64                  16 448
//     norms       2 · (64 + 64)                     256
//                                                49 792
//   head          64 · 12 + 12                                  780
//                                                           607 308
const_assert_eq!(Kwt1Plan::PARAMETERS, 607_308);
const_assert_eq!(Kwt1Plan::FLASH, 4 * 607_308);

// Multiply-adds for the class token and 98 frames
//
//   projection    98 · 40 · 64                              250 880
//   12 blocks                                            73 446 912
//     attention   99 · 4 · 64 · 64            1 622 016
//     scores      99 · 99 · 64                  627 264
//     context     99 · 99 · 64                  627 264
//     inner       99 · 64 · 256               1 622 016
//     outer       99 · 256 · 64               1 622 016
//                                             6 120 576
//   head          64 · 12                                       768
//                                                        73 698 560
const_assert_eq!(Kwt1Plan::MACS, 73_698_560);

// Bytes of working memory, 4 tokens at a time
//
//   stream        99 · 64                         6 336
//   keys, values  2 · 99 · 64                    12 672
//   query, input  2 · 4 · 64                        512
//   scores        4 · 99 + 4                        400
//   hidden        4 · 256                         1 024
//                                                20 944 numbers, and how many tokens are in use
const_assert_eq!(Kwt1Plan::RAM, 4 * 20_944 + size_of::<u32>());
const _: () = Kwt1Plan::assert_fits(2_429_232, 83_780);

/// The encoder of MiniLM-L6.
type MiniLm = Encoder<Bert, 6, 384, 1536, 12>;

// Parameters
//
//   6 blocks
//     q, k, v, output   4 · (384 · 384 + 384)       591 360
//     inner             384 · 1536 + 1536           591 360
//     outer             1536 · 384 + 384            590 208
//     norms             2 · (384 + 384)               1 536
//                                                 1 774 464
const_assert_eq!(Plan::<MiniLm, 256>::PARAMETERS, 6 * 1_774_464);
const_assert_eq!(Plan::<MiniLm, 256>::PARAMETERS, 10_646_784);
// 256 · (4 · 384² + 2 · 384 · 1536) in matrices, 256² · 2 · 384 in pairs of tokens
const_assert_eq!(Plan::<MiniLm, 256>::MACS, 6 * (256 * 1_769_472 + 256 * 256 * 768));

// A causal token sees half of the pairs: 5 · 6 / 2 = 15 for 5 tokens.
const_assert_eq!(
    Plan::<EncoderBlock<Vit, 8, 8, 1>, 5>::MACS - Plan::<EncoderBlock<Gpt2, 8, 8, 1>, 5>::MACS,
    (25 - 15) * 2 * 8
);

#[test]
fn a_plan_prints_its_numbers() {
    let expected = "607308 parameters, 2429232 bytes of flash, 83780 bytes of RAM and 73698560 multiply-adds for 99 \
                    tokens, 4 at a time";
    assert_eq!(Kwt1Plan::new().to_string(), expected);
}

#[test]
fn zero_is_zero() {
    let model = Own::ZERO;
    let mut count = 0;
    model.for_each_tensor(|name, tensor| {
        count += tensor.stored().len();
        assert!(tensor.stored().iter().all(|number| number.to_bits() == 0), "{name}");
    });
    assert_eq!(count, Own::COUNT);
}

/// Families that differ from `Base` in one thing each, and one that differs in name only.
macro_rules! families {
    ($($name:ident: $placement:ty, $norm:ty, $final:ty, $mask:ty, $input:ty, $output:ty, $feed_forward:ty;)*) => { $(
        #[derive(Clone, Copy)]
        struct $name;

        impl Family for $name {
            type Placement = $placement;
            type Norm<const D_MODEL: usize> = $norm;
            type FinalNorm<const D_MODEL: usize> = $final;
            type Mask = $mask;
            type Rotation = constformer::NoRotation;
            type InputBias = $input;
            type OutputBias = $output;
            type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
                = $feed_forward
            where
                Width<D_MODEL>: KnownWidth,
                Width<D_FF>: KnownWidth;
        }
    )* };
}

type Ln<const D: usize> = LayerNorm<D, U6>;
type Ff<const D: usize, const FF: usize, T> = FeedForward<D, FF, Gelu, T>;

families! {
    Base: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    SameAsBase: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    OtherPlacement: PostLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    OtherEpsilon: PreLn, LayerNorm<D_MODEL, U5>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    OtherNorm: PreLn, RmsNorm<D_MODEL, U6>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    NormWithoutBias: PreLn, LayerNorm<D_MODEL, U6, NoBias>, Ln<D_MODEL>, Bidirectional,
        WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    OtherFinalEpsilon: PreLn, Ln<D_MODEL>, LayerNorm<D_MODEL, U5>, Bidirectional,
        WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    NoFinalNorm: PreLn, Ln<D_MODEL>, NoNorm, Bidirectional, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    OtherMask: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Causal, WithBias, WithBias, Ff<D_MODEL, D_FF, T>;
    NoInputBias: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, NoBias, WithBias, Ff<D_MODEL, D_FF, T>;
    NoOutputBias: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, WithBias, NoBias, Ff<D_MODEL, D_FF, T>;
    OtherActivation: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional,
        WithBias, WithBias, FeedForward<D_MODEL, D_FF, GeluTanh, T>;
    FeedForwardWithoutBias: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional,
        WithBias, WithBias, FeedForward<D_MODEL, D_FF, Gelu, T, NoBias>;
    Gated: PreLn, Ln<D_MODEL>, Ln<D_MODEL>, Bidirectional, WithBias, WithBias, GatedFeedForward<D_MODEL, D_FF, Gelu, T>;
}

/// `f32` by another name: the same storage.
#[derive(Clone, Copy)]
struct Single;

impl Format for Single {
    type Number = f32;
    type Matrix<const IN: usize, const OUT: usize>
        = Panels<IN, OUT>
    where
        Width<IN>: KnownWidth;
    type KeyValues = f32;
    type Stream = f32;
}

mod one_order {
    constformer::model! { pub struct Pair { pub a: [f32; 4], pub b: [f32; 4] } }
}

mod the_other_order {
    constformer::model! { pub struct Pair { pub b: [f32; 4], pub a: [f32; 4] } }
}

mod the_same_elsewhere {
    constformer::model! { pub struct Pair { pub a: [f32; 4], pub b: [f32; 4] } }
}

mod another_name {
    constformer::model! { pub struct Couple { pub a: [f32; 4], pub b: [f32; 4] } }
}

type Stack<F> = Encoder<F, 2, 24, 40, 2>;
type Pooled<P> = Classifier<TokenEmbedding<11, 24>, Stack<Base>, 24, 5, P>;

macro_rules! fingerprints {
    ($($model:ty),* $(,)?) => { [$((stringify!($model), <$model as Parameters>::FINGERPRINT)),*] };
}

/// In a list in which neighbours differ in one thing, no two fingerprints are the same.
#[test]
fn a_different_structure_has_a_different_fingerprint() {
    let all = fingerprints![
        Stack<Base>,
        Encoder<Base, 3, 24, 40, 2>, // layers
        Encoder<Base, 2, 12, 40, 2>, // width
        Encoder<Base, 2, 24, 41, 2>, // width between
        Encoder<Base, 2, 24, 40, 3>, // heads
        Stack<OtherPlacement>,
        Stack<OtherEpsilon>,
        Stack<OtherNorm>,
        Stack<NormWithoutBias>,
        Stack<OtherFinalEpsilon>,
        Stack<NoFinalNorm>,
        Stack<OtherMask>,
        Stack<NoInputBias>,
        Stack<NoOutputBias>,
        Stack<OtherActivation>,
        Stack<FeedForwardWithoutBias>,
        Stack<Gated>,
        Stack<Vaswani>,
        Stack<Bert>,
        Stack<Gpt2>,
        Stack<Kwt>,
        [EncoderBlock<Base, 24, 40, 2>; 2],
        EncoderBlock<Base, 24, 40, 2>,
        MultiHeadAttention<Base, 24, 2>,
        MultiHeadAttention<OtherMask, 24, 2>,
        Pooled<FirstToken>,
        Pooled<Mean>,
        Classifier<TextEmbedding<11, 24, 13>, Stack<Base>, 24, 5>,
        Classifier<PatchEmbedding<11, 24, 13>, Stack<Base>, 24, 5>,
        PatchEmbedding<11, 24, 13>,
        TextEmbedding<11, 24, 13>,
        TextEmbedding<13, 24, 11>,
        Linear<24, 5>,
        Linear<5, 24>,
        Linear<24, 5, f32, NoBias>,
        TokenEmbedding<24, 5>,
        TokenEmbedding<5, 24>,
        Table<24, 5>,
        Panels<24, 5>,
        LayerNorm<24>,
        LayerNorm<24, U6>,
        RmsNorm<24, U6>,
        NoNorm,
        FeedForward<24, 5, Relu>,
        FeedForward<24, 5, Silu>,
        GatedFeedForward<24, 5, Silu>,
        [f32; 24],
        [[f32; 24]; 1],
        [[f32; 1]; 24],
        one_order::Pair,
        the_other_order::Pair,
        another_name::Couple, // what a model of one's own computes is in its methods, so its name counts
    ];
    for (i, (name, fingerprint)) in all.iter().enumerate() {
        for (other_name, other) in &all[..i] {
            assert_ne!(fingerprint, other, "{name} and {other_name}");
        }
    }
}

#[test]
fn the_same_structure_has_the_same_fingerprint() {
    type Renamed<F> = Encoder<F, 2, 24, 40, 2, f32>;
    assert_eq!(Stack::<Base>::FINGERPRINT, Renamed::<Base>::FINGERPRINT);
    assert_eq!(Stack::<Base>::FINGERPRINT, Stack::<SameAsBase>::FINGERPRINT);
    assert_eq!(Stack::<Base>::FINGERPRINT, Stack::<Vit>::FINGERPRINT);
    assert_eq!(Stack::<Base>::FINGERPRINT, Encoder::<Base, 2, 24, 40, 2, Single>::FINGERPRINT);
    assert_eq!(one_order::Pair::FINGERPRINT, the_same_elsewhere::Pair::FINGERPRINT);
}
