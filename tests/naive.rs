//! Encoder blocks and their parts against the same arithmetic written naively in `f64`, at regular and at odd sizes:
//! `common/naive.rs`.

mod common;

use common::{
    naive::{self, Recipe},
    random::Random,
};
use constformer::{
    AttentionScratch, Bert, Causal, EncoderBlock, Family, FeedForwardScratch, GatedFeedForward, Gpt2, KnownWidth, Kwt,
    Layer, NoBias, PositionWise, PreLn, RmsNorm, Scratch, Sequence, Silu, SplitInto, TILE, Vaswani, Vit, Width, Zero,
    boxed,
};
use typenum::U6;

common::families! {
    Llama: PreLn, RmsNorm<D_MODEL, U6>, Causal, NoBias, GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>,
        final RmsNorm<D_MODEL, U6>;
}

const VASWANI: Recipe =
    Recipe { norm_first: false, centred: true, epsilon: 1e-6, causal: false, pairing: None, activation: naive::relu };
const BERT: Recipe = Recipe { epsilon: 1e-12, activation: naive::gelu, ..VASWANI };
const KWT: Recipe = Recipe { activation: naive::gelu_tanh, ..VASWANI };
const VIT: Recipe = Recipe { norm_first: true, activation: naive::gelu, ..VASWANI };
const GPT2: Recipe = Recipe { norm_first: true, epsilon: 1e-5, causal: true, activation: naive::gelu_tanh, ..VASWANI };
const LLAMA: Recipe = Recipe { norm_first: true, centred: false, causal: true, activation: naive::silu, ..VASWANI };

/// Two blocks of the family `F`, on `len` of `SEQ_LEN` tokens.
fn check<
    F: Family,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
    const TILE: usize,
>(
    recipe: Recipe,
    len: usize,
) where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let mut random = Random(7);
    let mut blocks = boxed::<[EncoderBlock<F, D_MODEL, D_FF, HEADS>; 2]>();
    random.fill(&mut *blocks);
    let tokens = random.tokens(len);
    let mut x = boxed::<Sequence<D_MODEL, SEQ_LEN>>();
    x.assign(&tokens).unwrap();
    blocks.forward(&mut x, &mut boxed::<Scratch<D_MODEL, D_FF, SEQ_LEN, TILE>>());

    let y = blocks.iter().fold(rows(&tokens), |y, block| naive::Block::new(block, HEADS, recipe).forward(&y));
    let error = common::max_error(x.tokens().as_flattened(), y.into_iter().flatten());
    let family = std::any::type_name::<F>().rsplit(':').next().unwrap();
    println!("{family} {D_MODEL} {D_FF} {HEADS}, {len} of {SEQ_LEN} tokens, {TILE} at a time: max error {error:.1e}");
    assert!(error < 1e-5);
}

fn rows<const D: usize>(tokens: &[[f32; D]]) -> naive::Rows {
    tokens.iter().map(|x| x.map(f64::from).to_vec()).collect()
}

#[test]
fn families() {
    check::<Vaswani, 21, 35, 3, 13, TILE>(VASWANI, 11);
    check::<Bert, 21, 35, 3, 13, TILE>(BERT, 11);
    check::<Kwt, 21, 35, 3, 13, TILE>(KWT, 11);
    check::<Vit, 21, 35, 3, 13, TILE>(VIT, 11);
    check::<Gpt2, 21, 35, 3, 13, TILE>(GPT2, 11);
    check::<Llama, 21, 35, 3, 13, TILE>(LLAMA, 11);
}

#[test]
fn tiles() {
    for len in [1, 6, 7, 8, 13] {
        check::<Vit, 21, 35, 3, 13, 1>(VIT, len);
        check::<Vit, 21, 35, 3, 13, 3>(VIT, len);
        check::<Vit, 21, 35, 3, 13, 4>(VIT, len);
        check::<Vit, 21, 35, 3, 13, 7>(VIT, len);
        check::<Gpt2, 21, 35, 3, 13, 1>(GPT2, len);
        check::<Gpt2, 21, 35, 3, 13, 3>(GPT2, len);
        check::<Gpt2, 21, 35, 3, 13, 4>(GPT2, len);
        check::<Gpt2, 21, 35, 3, 13, 7>(GPT2, len);
    }
}

#[test]
fn sizes() {
    check::<Bert, 1, 1, 1, 1, TILE>(BERT, 1);
    check::<Llama, 1, 1, 1, 1, TILE>(LLAMA, 1);
    check::<Bert, 5, 3, 1, 2, TILE>(BERT, 1);
    check::<Vit, 32, 64, 4, 16, TILE>(VIT, 16);
    check::<Kwt, 64, 256, 1, 99, TILE>(KWT, 99);
    check::<Vit, 77, 129, 7, 101, TILE>(VIT, 97);
    check::<Llama, 77, 129, 7, 101, 7>(LLAMA, 97);
}

/// Every number of rows that is left over after tiles of any machine; heads of 41 columns, and keys in a whole panel and a part.
#[test]
fn lengths() {
    for len in 1..=53 {
        check::<Vit, 82, 163, 2, 53, TILE>(VIT, len);
    }
}

#[test]
fn parts() {
    let mut random = Random(7);
    let mut block = EncoderBlock::<Gpt2, 21, 35, 3>::ZERO;
    random.fill(&mut block);
    let tokens = random.tokens(11);
    let naive = naive::Block::new(&block, 3, GPT2);

    let mut x = Sequence::<21, 13>::new();
    x.assign(&tokens).unwrap();
    block.attention.forward(&mut x, &mut boxed::<AttentionScratch<21, 13, 4>>());
    let expected = naive.attention(&rows(&tokens));
    assert!(common::max_error(x.tokens().as_flattened(), expected.into_iter().flatten()) < 1e-5);

    x.assign(&tokens).unwrap();
    block.feed_forward.forward(&mut x, &mut boxed::<FeedForwardScratch<35, 4>>());
    let expected = naive.feed_forward(&rows(&tokens));
    assert!(common::max_error(x.tokens().as_flattened(), expected.into_iter().flatten()) < 1e-5);
}
