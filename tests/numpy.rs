//! A Post-LN encoder block against one written in `NumPy`: `golden/numpy_encoder_block.safetensors`, in `f64`, of 4 tokens,
//! whose matrices are those of y = x W. Its attention has no biases.

mod common;

use common::golden::Golden;
use constformer::{
    Bidirectional, EncoderBlock, FeedForward, Layer, LayerNorm, NoBias, NoNorm, PostLn, Relu, Scratch, Sequence, Zero,
    boxed,
};
use typenum::U6;

common::families! {
    Unbiased: PostLn, LayerNorm<D_MODEL, U6>, Bidirectional, NoBias, FeedForward<D_MODEL, D_FF, Relu, T>, final NoNorm;
}

#[test]
fn block() {
    let mut golden = Golden::open("numpy_encoder_block.safetensors");
    let mut block = EncoderBlock::<Unbiased, 8, 32, 2>::ZERO;
    let attention = &mut block.attention;
    let projections = [&mut attention.query, &mut attention.key, &mut attention.value, &mut attention.output];
    for (projection, name) in projections.into_iter().zip(["WQ", "WK", "WV", "WO"]) {
        projection.weight.copy_from_in_out(&array(golden.take(name).rows()));
    }
    block.feed_forward.inner.weight.copy_from_in_out(&array(golden.take("W1").rows()));
    block.feed_forward.outer.weight.copy_from_in_out(&array(golden.take("W2").rows()));
    block.feed_forward.inner.bias = array(golden.take("bf1").to_f32());
    block.feed_forward.outer.bias = array(golden.take("bf2").to_f32());
    block.attention_norm.weight = array(golden.take("g1").to_f32());
    block.attention_norm.bias = array(golden.take("b1").to_f32());
    block.feed_forward_norm.weight = array(golden.take("g2").to_f32());
    block.feed_forward_norm.bias = array(golden.take("b2").to_f32());

    let mut x = Sequence::<8, 4>::new();
    x.assign(&golden.take("input").rows()).unwrap();
    block.forward(&mut x, &mut boxed::<Scratch<8, 32, 4>>());
    let expected = golden.take("output");
    assert_eq!(expected.shape, [4, 8]);
    let error = common::max_error(x.tokens().as_flattened(), expected.numbers);
    println!("max error {error:.1e}");
    assert!(error < 1e-5);
    assert!(golden.tensors.is_empty());
}

fn array<T, const N: usize>(values: Vec<T>) -> [T; N] {
    values.try_into().unwrap_or_else(|values: Vec<T>| panic!("{} values and not {N}", values.len()))
}
