//! Blocks in every format of weights and of memory. Laws that sums in another order would break hold in `f32` alone.

use crate::{D_FF, D_MODEL, Gated, LARGER, SEQ_LEN, TILE, blocks::every_layer, config};
use constformer::{laws, *};
use laws::{attention, models, residual, stack, tokens};
use proptest::prelude::*;
use std::any::TypeId;

type Block<F, T, const HEADS: usize = 7> = EncoderBlock<F, D_MODEL, D_FF, HEADS, T>;

/// Whether tokens that are stored are computed as that: fixed-point numbers have 16 bits after the point, and a stored token's scale 16 bits.
fn keeps<T: Format>(tokens: &[[f32; D_MODEL]]) -> bool {
    let [number, stream] = [TypeId::of::<T::Number>(), TypeId::of::<T::Stream>()];
    let magnitude = |token: &[f32; D_MODEL]| token.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    number == TypeId::of::<f32>()
        || stream == number
        || tokens.iter().all(|token| (1.01..32_000.0).contains(&magnitude(token)))
}

macro_rules! formats {
    ($($name:ident: $format:ty;)*) => { $(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(config())]

                #[test]
                fn blocks(
                    bert in models::<Block<Bert, $format>>(),
                    gpt in models::<Block<Gpt2, $format>>(),
                    mut gated in models::<Block<Gated, $format, 3>>(),
                    layers in models::<[Block<Bert, $format>; 3]>(),
                    moderate in tokens(0..=SEQ_LEN),
                    extreme in laws::extreme_tokens(0..=SEQ_LEN),
                ) {
                    every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*bert, &moderate)?;
                    every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*gpt, &moderate)?;
                    every_layer::<D_MODEL, SEQ_LEN, LARGER, TILE>(&*gated, &moderate)?;
                    for tokens in [moderate, extreme] {
                        attention::prefix::<D_MODEL, SEQ_LEN, TILE>(&*gpt, &tokens)?;
                        stack::layers::<D_MODEL, SEQ_LEN, TILE, 3>(&layers, &tokens)?;
                        if keeps::<$format>(&tokens) {
                            residual::zero_branches::<D_MODEL, SEQ_LEN, TILE>(&mut *gated, &tokens)?;
                        }
                    }
                }

                #[test]
                fn whole_panels(block in models::<EncoderBlock<Vit, 64, 96, 2, $format>>(), tokens in laws::tokens(0..=40)) {
                    every_layer::<64, 40, 66, 16>(&*block, &tokens)?;
                }
            }
        }
    )* };
}

formats! {
    int8: Int8;
    int4: Int4;
    integer_only: IntegerOnly<Int8>;
    integer_only_of_8_bits: Int8Stream<IntegerOnly<Int8>>;
    integer_only_of_4_bits: IntegerOnly<Int4>;
    int8_cache: Int8Cache<f32>;
    int8_stream: Int8Stream<f32>;
    all_of_8_bits: Int8Stream<Int8Cache<Int8>>;
    all_of_4_and_8_bits: Int8Stream<Int8Cache<Int4>>;
}
