//! Whole models and their ends: embeddings, positions, pooling, classifiers, on good input and on bad.

mod common;

use common::golden::Golden;
use constformer::{
    Bert, Boxed, Classifier, Embedding, Empty, Encoder, FirstToken, InputError, LearnedPositions, Mean, Memory,
    Parameters, PatchEmbedding, Pooling, Sequence, SinusoidalPositions, TextEmbedding, TokenEmbedding, TooLong,
    UnknownToken, Working, Zero, boxed, math::softmax, patches,
};

/// 1, 2, 3, ... in order of storage.
fn counted<M: Parameters>() -> Boxed<M> {
    let mut model = boxed::<M>();
    let mut n = 0.0;
    model.for_each_tensor_mut(|_, mut tensor| {
        for number in tensor.stored_mut() {
            n += 1.0;
            *number = n;
        }
    });
    model
}

/// A sequence with old tokens in it, NaN all of them.
fn used<const D: usize, const S: usize>() -> Sequence<D, S> {
    Sequence::from(nalgebra::SMatrix::repeat(f32::NAN))
}

#[test]
fn tokens_are_rows_of_the_table() {
    let embedding = counted::<TokenEmbedding<5, 3>>();
    let mut x = used::<3, 7>();
    embedding.forward(&[4, 0, 4], &mut x).unwrap();
    assert_eq!(x.tokens(), [[13.0, 14.0, 15.0], [1.0, 2.0, 3.0], [13.0, 14.0, 15.0]]);
}

#[test]
fn text_is_tokens_and_positions() {
    let embedding = counted::<TextEmbedding<5, 3, 7>>();
    let mut x = used::<3, 7>();
    embedding.forward(&[4, 0], &mut x).unwrap();
    assert_eq!(x.tokens(), [[13.0 + 16.0, 14.0 + 17.0, 15.0 + 18.0], [1.0 + 19.0, 2.0 + 20.0, 3.0 + 21.0]]);
}

#[test]
fn patches_come_after_the_class_token() {
    let mut embedding = PatchEmbedding::<2, 3, 4>::ZERO;
    embedding.projection.weight.copy_from_out_in(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    embedding.projection.bias = [0.5, 0.25, 0.125];
    embedding.class_token = [7.0, 8.0, 9.0];
    for (i, row) in embedding.positions.weight.rows.iter_mut().enumerate() {
        *row = [100.0 * i as f32; 3];
    }
    let mut x = used::<3, 4>();
    embedding.forward(&[[1.0, 2.0], [3.0, 4.0]], &mut x).unwrap();
    assert_eq!(x.tokens(), [[7.0, 8.0, 9.0], [101.5, 102.25, 103.125], [203.5, 204.25, 207.125]]);
}

#[test]
fn bad_inputs_are_errors_and_leave_no_tokens() {
    fn refused<E: Embedding<3>>(embedding: &E, inputs: &[E::Input], expected: impl Into<InputError>, text: &str) {
        let mut x = used::<3, 4>();
        let error = embedding.forward(inputs, &mut x).unwrap_err();
        assert_eq!((error, x.len()), (expected.into(), 0));
        assert_eq!(error.to_string(), text);
    }
    let tokens = counted::<TokenEmbedding<5, 3>>();
    refused(&*tokens, &[], Empty, "no tokens, where there must be one at least");
    refused(&*tokens, &[0; 5], TooLong { capacity: 4, found: 5 }, "5 tokens, where there is room for 4");
    refused(&*tokens, &[1, 5], UnknownToken { id: 5, vocabulary: 5 }, "token id 5 in a vocabulary of 5");
    refused(
        &*tokens,
        &[u32::MAX],
        UnknownToken { id: u32::MAX, vocabulary: 5 },
        "token id 4294967295 in a vocabulary of 5",
    );
    let text = counted::<TextEmbedding<5, 3, 4>>();
    refused(&*text, &[], Empty, "no tokens, where there must be one at least");
    refused(&*text, &[0; 5], TooLong { capacity: 4, found: 5 }, "5 tokens, where there is room for 4");
    refused(&*text, &[9], UnknownToken { id: 9, vocabulary: 5 }, "token id 9 in a vocabulary of 5");
    let patches = counted::<PatchEmbedding<2, 3, 4>>();
    refused(&*patches, &[], Empty, "no tokens, where there must be one at least");
    refused(&*patches, &[[0.0; 2]; 4], TooLong { capacity: 3, found: 4 }, "4 tokens, where there is room for 3");
}

/// A capacity that has no room for a class token even.
#[test]
fn no_capacity_is_too_long() {
    let mut x = Sequence::<3, 0>::new();
    let error = counted::<PatchEmbedding<2, 3, 4>>().forward(&[[0.0; 2]], &mut x);
    assert_eq!(error, Err(TooLong { capacity: 0, found: 1 }.into()));
}

#[test]
fn pooling() {
    let mut x = used::<2, 5>();
    x.assign(&[[1.0, 2.0], [4.0, 8.0], [4.0, -1.0]]).unwrap();
    assert_eq!(FirstToken::pool(&x), Ok([1.0, 2.0]));
    assert_eq!(Mean::pool(&x), Ok([3.0, 3.0]));
    x.clear();
    assert_eq!((FirstToken::pool(&x), Mean::pool(&x)), (Err(Empty), Err(Empty)));
}

#[test]
fn classifiers_say_what_is_wrong_and_go_on() {
    type Model<P> = Classifier<TextEmbedding<11, 6, 5>, Encoder<Bert, 2, 6, 7, 3>, 6, 3, P>;
    fn check<P: Pooling>() {
        let model = counted::<Model<P>>();
        let mut memory = boxed::<Memory<Model<P>, 5>>();
        let first = model.forward(&[1, 2, 3], &mut memory).unwrap();
        assert_eq!(model.forward(&[], &mut memory), Err(Empty.into()));
        assert_eq!(model.forward(&[1; 6], &mut memory), Err(TooLong { capacity: 5, found: 6 }.into()));
        assert_eq!(model.forward(&[1, 11], &mut memory), Err(UnknownToken { id: 11, vocabulary: 11 }.into()));
        assert_eq!(model.forward(&[1, 2, 3], &mut memory), Ok(first));
        assert!(first.iter().all(|x| x.is_finite()));
    }
    check::<FirstToken>();
    check::<Mean>();
}

/// A sensor that gives NaN: the answer is NaN, and the next answer is as if nothing had been.
#[test]
fn nan_stays_in_its_own_answer() {
    type Model = Classifier<PatchEmbedding<2, 6, 5>, Encoder<Bert, 2, 6, 7, 3>, 6, 3>;
    let model = counted::<Model>();
    let mut memory = boxed::<Memory<Model, 5>>();
    let before = model.forward(&[[1.0, 2.0]; 4], &mut memory).unwrap();
    assert!(model.forward(&[[f32::NAN; 2]; 4], &mut memory).unwrap().iter().all(|x| x.is_nan()));
    assert_eq!(model.forward(&[[1.0, 2.0]; 4], &mut memory).unwrap(), before);
    let Working { stream, .. } = &*memory;
    assert_eq!(stream.len(), 5);
}

#[test]
fn sinusoidal_positions() {
    static NARROW: SinusoidalPositions<7, 11> = SinusoidalPositions::new(); // odd
    static WIDE: SinusoidalPositions<32, 64> = SinusoidalPositions::new();
    let mut golden = Golden::open("torch_functions.safetensors");
    let mut narrow = Sequence::<7, 11>::from(nalgebra::SMatrix::zeros());
    let mut wide = Sequence::<32, 64>::from(nalgebra::SMatrix::zeros());
    NARROW.forward(&mut narrow);
    WIDE.forward(&mut wide);
    let distance = |a: &[f32], b: &[f64]| a.iter().zip(b).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    let (expected_narrow, expected_wide) = (golden.take("sinusoidal.7"), golden.take("sinusoidal.32"));
    assert_eq!((&expected_narrow.shape[..], &expected_wide.shape[..]), (&[11, 7][..], &[64, 32][..]));
    let narrow = distance(narrow.tokens().as_flattened(), &expected_narrow.numbers);
    let wide = distance(wide.tokens().as_flattened(), &expected_wide.numbers);
    println!("within {narrow:.1e} and {wide:.1e}");
    assert!(narrow < 1e-7 && wide < 1e-7);
}

/// Position 4,999 is as good as position 1: angles are not added up in `f32`.
#[test]
fn sinusoidal_positions_far_out() {
    const LAST: usize = 4999;
    static FAR: SinusoidalPositions<8, 5000> = SinusoidalPositions::new();
    let mut x = Box::new(Sequence::<8, 5000>::ZERO);
    x.resize(5000).unwrap();
    FAR.forward(&mut x);
    for (i, pair) in x.tokens()[LAST].as_chunks::<2>().0.iter().enumerate() {
        let angle = LAST as f64 / 10_000f64.powf(2.0 * i as f64 / 8.0);
        for (found, expected) in pair.iter().zip([angle.sin(), angle.cos()]) {
            assert!((f64::from(*found) - expected).abs() < 1e-7, "{found} {expected}");
        }
    }
}

#[test]
fn learned_positions_are_added_to_the_tokens_in_use() {
    let positions = counted::<LearnedPositions<2, 5>>();
    let mut x = Sequence::<2, 3>::new();
    x.push(&[0.5, 0.5]).unwrap();
    positions.forward(&mut x);
    assert_eq!(x.tokens(), [[1.5, 2.5]]);
}

#[test]
fn images_are_cut_row_by_row() {
    let image: [[f32; 9]; 6] = std::array::from_fn(|y| std::array::from_fn(|x| (10 * y + x) as f32));
    let cut = patches::<6, 9, 3, 9, 6>(&image);
    assert_eq!(cut[4], [33.0, 34.0, 35.0, 43.0, 44.0, 45.0, 53.0, 54.0, 55.0]);
}

#[test]
fn softmax_of_nothing() {
    softmax(&mut []);
    let mut masked = [f32::NEG_INFINITY; 19];
    softmax(&mut masked);
    assert_eq!(masked, [0.0; 19]);
}
