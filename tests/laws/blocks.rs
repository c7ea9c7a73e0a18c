//! Attention, feed-forward layers, blocks and stacks.

use crate::{Attention, Block, D_FF, D_MODEL, Gated, LARGER, SEQ_LEN, TILE, config};
use constformer::{laws, *};
use laws::{attention, feed_forward, models, residual, sequence, stack, tokens};
use proptest::prelude::*;

/// What holds for any layer.
pub(crate) fn every_layer<const D: usize, const SEQ_LEN: usize, const LARGER: usize, const TILE: usize>(
    layer: &impl Layer<D>,
    tokens: &[[f32; D]],
) -> laws::Law {
    sequence::padding::<D, SEQ_LEN, TILE>(layer, tokens)?;
    sequence::capacity::<D, SEQ_LEN, LARGER, TILE>(layer, tokens)?;
    sequence::tiles::<D, SEQ_LEN, TILE, 1>(layer, tokens)?;
    sequence::tiles::<D, SEQ_LEN, TILE, 3>(layer, tokens)?;
    sequence::tiles::<D, SEQ_LEN, TILE, 5>(layer, tokens)?;
    sequence::tiles::<D, SEQ_LEN, TILE, { constformer::TILE }>(layer, tokens)?;
    sequence::batch::<D, SEQ_LEN, TILE>(layer, &[tokens.to_vec(), vec![], tokens[..tokens.len() / 2].to_vec()])?;
    sequence::repetition::<D, SEQ_LEN, TILE>(layer, tokens)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn post_ln(block in models::<Block<Bert>>(), tokens in tokens(0..=SEQ_LEN)) {
        every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*block, &tokens)?;
    }

    #[test]
    fn pre_ln_causal(block in models::<Block<Gpt2>>(), tokens in tokens(0..=SEQ_LEN)) {
        every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*block, &tokens)?;
    }

    #[test]
    fn gated(block in models::<Block<Gated, 3>>(), tokens in tokens(0..=SEQ_LEN)) {
        every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*block, &tokens)?;
    }

    #[test]
    fn whole_panels(block in models::<EncoderBlock<Vit, 64, 96, 2>>(), tokens in tokens(0..=32)) {
        every_layer::<64, 32, 48, 16>(&*block, &tokens)?;
        residual::composition::<_, _, _, _, 32, 16>(&*block, &tokens)?;
    }

    #[test]
    fn permutation(
        bert in models::<Block<Bert>>(),
        gated in models::<Block<Gated, 3>>(),
        stack in models::<[Block<Kwt, 3>; 2]>(),
        tokens in tokens(0..=SEQ_LEN),
    ) {
        attention::permutation::<D_MODEL, SEQ_LEN, TILE>(&*bert, &tokens)?;
        attention::permutation::<D_MODEL, SEQ_LEN, TILE>(&*gated, &tokens)?;
        attention::permutation::<D_MODEL, SEQ_LEN, TILE>(&*stack, &tokens)?;
    }

    #[test]
    fn prefix(block in models::<Block<Gpt2>>(), stack in models::<[Block<Gpt2>; 2]>(), tokens in tokens(0..=SEQ_LEN)) {
        attention::prefix::<D_MODEL, SEQ_LEN, 1>(&*block, &tokens)?;
        attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*block, &tokens)?;
        attention::prefix::<D_MODEL, SEQ_LEN, { constformer::TILE }>(&*stack, &tokens)?;
    }

    #[test]
    fn prefix_of_extremes(block in models::<Block<Gpt2>>(), tokens in laws::extreme_tokens(0..=SEQ_LEN)) {
        attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*block, &tokens)?;
    }

    #[test]
    fn convexity(
        mut bert in models::<Attention<Bert>>(),
        mut kwt in models::<Attention<Kwt, 7>>(),
        mut gpt in models::<Attention<Gpt2>>(),
        moderate in tokens(0..=SEQ_LEN),
        extreme in laws::extreme_tokens(0..=SEQ_LEN),
    ) {
        for tokens in [moderate, extreme] {
            attention::convexity::<_, D_MODEL, _, SEQ_LEN, TILE>(&mut *bert, &tokens)?;
            attention::convexity::<_, D_MODEL, _, SEQ_LEN, TILE>(&mut *kwt, &tokens)?;
            attention::convexity::<_, D_MODEL, _, SEQ_LEN, TILE>(&mut *gpt, &tokens)?;
        }
    }

    #[test]
    fn one_token(
        bert in models::<Attention<Bert>>(),
        gpt in models::<Attention<Gpt2, 7>>(),
        gated in models::<Attention<Gated>>(),
        token in tokens(1..=1),
    ) {
        attention::one_token::<_, D_MODEL, _, SEQ_LEN, TILE>(&*bert, &token[0])?;
        attention::one_token::<_, D_MODEL, _, SEQ_LEN, TILE>(&*gpt, &token[0])?;
        attention::one_token::<_, D_MODEL, _, SEQ_LEN, TILE>(&*gated, &token[0])?;
    }

    #[test]
    fn every_token_alone(
        plain in models::<FeedForward<D_MODEL, D_FF, Gelu>>(),
        gated in models::<GatedFeedForward<D_MODEL, D_FF, Silu>>(),
        wide in models::<FeedForward<64, 96, Gelu>>(),
        tokens in tokens(0..=SEQ_LEN),
        wide_tokens in laws::tokens(0..=SEQ_LEN),
    ) {
        feed_forward::every_token_alone::<D_MODEL, D_FF, SEQ_LEN, TILE>(&*plain, &tokens)?;
        feed_forward::every_token_alone::<D_MODEL, D_FF, SEQ_LEN, 5>(&*gated, &tokens)?;
        feed_forward::every_token_alone::<64, 96, SEQ_LEN, 3>(&*wide, &wide_tokens)?;
    }

    #[test]
    fn zero_branches(
        mut gpt in models::<Block<Gpt2>>(),
        mut stack in models::<[Block<Gated, 3>; 2]>(),
        moderate in tokens(0..=SEQ_LEN),
        extreme in laws::extreme_tokens(0..=SEQ_LEN),
    ) {
        for tokens in [moderate, extreme] {
            residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *gpt, &tokens)?;
            residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *stack, &tokens)?;
        }
    }

    #[test]
    fn normalised(
        mut bert in models::<Block<Bert>>(),
        mut kwt in models::<Block<Kwt, 3>>(),
        tokens in tokens(0..=SEQ_LEN),
    ) {
        residual::normalised::<Bert, D_MODEL, SEQ_LEN, TILE>(&mut *bert, &tokens)?;
        residual::normalised::<Kwt, D_MODEL, SEQ_LEN, TILE>(&mut *kwt, &tokens)?;
    }

    #[test]
    fn composition(
        bert in models::<Block<Bert>>(),
        gpt in models::<Block<Gpt2>>(),
        gated in models::<Block<Gated, 3>>(),
        tokens in tokens(0..=SEQ_LEN),
    ) {
        residual::composition::<_, D_MODEL, D_FF, 7, SEQ_LEN, TILE>(&*bert, &tokens)?;
        residual::composition::<_, D_MODEL, D_FF, 7, SEQ_LEN, TILE>(&*gpt, &tokens)?;
        residual::composition::<_, D_MODEL, D_FF, 3, SEQ_LEN, TILE>(&*gated, &tokens)?;
    }

    #[test]
    fn stacks(
        layers in models::<[Block<Bert>; 3]>(),
        encoder in models::<Encoder<Gpt2, 2, D_MODEL, D_FF, 7>>(),
        tokens in tokens(0..=SEQ_LEN),
    ) {
        stack::layers::<D_MODEL, SEQ_LEN, TILE, 3>(&layers, &tokens)?;
        stack::encoder::<_, 2, D_MODEL, D_FF, 7, SEQ_LEN, TILE>(&*encoder, &tokens)?;
        sequence::batch::<D_MODEL, SEQ_LEN, TILE>(&*encoder, &[tokens.clone(), tokens])?;
        sequence::batch::<D_MODEL, SEQ_LEN, TILE>(&*layers, &[vec![], vec![[0.5; D_MODEL]]])?;
    }
}
