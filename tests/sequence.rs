//! Sequences: what does not fit is refused and changes nothing, views are no copies, and what lies beyond the tokens in use
//! does not exist.

mod common;

use common::random::Random;
use constformer::{
    Bert, Boxed, EncoderBlock, Family, Gpt2, Layer, Scratch, Sequence, SplitInto, TooLong, Vit, Width, boxed,
};
use nalgebra::SMatrix;

#[test]
fn one_token_too_many_is_refused() {
    let mut x = Sequence::<3, 5>::new();
    for i in 0..5 {
        assert_eq!(x.push(&[i as f32; 3]), Ok(()));
        assert_eq!(x.len(), i + 1);
    }
    let before = x.clone();
    let error = x.push(&[9.0; 3]).unwrap_err();
    assert_eq!(error, TooLong { capacity: 5, found: 6 });
    assert_eq!(error.to_string(), "6 tokens, where there is room for 5");
    assert_eq!(x, before);
}

#[test]
fn too_many_tokens_are_refused() {
    let mut x = Sequence::<3, 5>::new();
    x.assign(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
    let before = x.clone();

    let error = x.assign(&[[9.0; 3]; 7]).unwrap_err();
    assert_eq!(error, TooLong { capacity: 5, found: 7 });
    assert_eq!(error.to_string(), "7 tokens, where there is room for 5");
    assert_eq!(x, before);

    let error = x.resize(11).unwrap_err();
    assert_eq!(error, TooLong { capacity: 5, found: 11 });
    assert_eq!(error.to_string(), "11 tokens, where there is room for 5");
    assert_eq!(x, before);
    assert_eq!(x.resize(usize::MAX), Err(TooLong { capacity: 5, found: usize::MAX }));
    assert_eq!(x, before);

    x.assign(&[[7.0; 3]; 5]).unwrap();
    assert_eq!(x.tokens(), [[7.0; 3]; 5]);
}

#[test]
fn no_capacity_holds_no_token() {
    let mut x = Sequence::<3, 0>::new();
    assert_eq!(x.push(&[1.0; 3]), Err(TooLong { capacity: 0, found: 1 }));
    assert_eq!(x.assign(&[[1.0; 3]]), Err(TooLong { capacity: 0, found: 1 }));
    assert_eq!(x.resize(1), Err(TooLong { capacity: 0, found: 1 }));
    assert_eq!((x.assign(&[]), x.resize(0)), (Ok(()), Ok(())));
    assert!(x.is_empty() && x.tokens().is_empty() && x.tokens_mut().is_empty());
    assert_eq!((x.matrix().shape(), x.matrix_mut().shape()), ((3, 0), (3, 0)));
    assert_eq!(x, Sequence::from(SMatrix::<f32, 3, 0>::zeros()));
}

#[test]
fn the_length_is_what_is_in_use() {
    let mut x = Sequence::<2, 5>::default();
    assert_eq!((x.len(), x.is_empty(), Sequence::<2, 5>::CAPACITY), (0, true, 5));
    x.assign(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).unwrap();
    assert_eq!((x.len(), x.is_empty(), x.matrix().shape()), (3, false, (2, 3)));
    x.resize(1).unwrap();
    assert_eq!(x.tokens(), [[1.0, 2.0]]);
    x.resize(3).unwrap(); // what was there before is gone
    assert_eq!(x.tokens(), [[1.0, 2.0], [0.0; 2], [0.0; 2]]);
    x.clear();
    assert!(x.is_empty());
    x.push(&[7.0, 8.0]).unwrap();
    assert_eq!(x.tokens(), [[7.0, 8.0]]);
}

#[test]
fn views_are_no_copies() {
    let mut x = Sequence::<3, 5>::new();
    x.assign(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
    let first = x.tokens().as_ptr().cast::<f32>();
    let matrix = x.matrix();
    assert!(std::ptr::eq(matrix.as_ptr(), first));
    assert_eq!((matrix.shape(), matrix[(2, 0)], matrix[(0, 1)]), ((3, 2), 3.0, 4.0));

    let mut matrix = x.matrix_mut();
    assert!(std::ptr::eq(matrix.as_ptr(), first));
    matrix[(1, 1)] = 9.0;
    matrix *= 2.0;
    assert_eq!(x.tokens(), [[2.0, 4.0, 6.0], [8.0, 18.0, 12.0]]);
}

#[test]
fn a_matrix_becomes_a_sequence() {
    let matrix = SMatrix::<f32, 3, 2>::from_columns(&[[1.0, 2.0, 3.0].into(), [4.0, 5.0, 6.0].into()]);
    let x = Sequence::from(matrix);
    assert_eq!(x.tokens(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(x.matrix(), matrix);
}

#[test]
fn equality_is_of_the_tokens_in_use() {
    let mut long = Sequence::<3, 7>::from(SMatrix::repeat(9.0));
    long.assign(&[[1.0; 3], [2.0; 3]]).unwrap();
    let mut short = Sequence::<3, 2>::new();
    short.assign(&[[1.0; 3], [2.0; 3]]).unwrap();
    assert_eq!(long, short);
    assert_eq!(short, long);
    short.tokens_mut()[1][2] = 3.0;
    assert_ne!(long, short);
    short.resize(1).unwrap();
    assert_ne!(long, short);
    long.resize(1).unwrap();
    assert_eq!(long, short);
}

/// A block with random weights, and its working memory.
fn block<F: Family>() -> (Boxed<EncoderBlock<F, 21, 35, 3>>, Boxed<Scratch<21, 35, 11, 4>>)
where
    Width<21>: SplitInto<3>,
{
    let mut block = boxed();
    Random(7).fill(&mut *block);
    (block, boxed())
}

#[test]
fn no_tokens_stay_no_tokens() {
    fn check<F: Family>() {
        let (block, mut scratch) = block::<F>();
        let mut x = Sequence::<21, 11>::from(SMatrix::repeat(1.0));
        x.clear();
        block.forward(&mut x, &mut scratch);
        assert!(x.is_empty());
        x.resize(11).unwrap();
        assert_eq!(x.tokens(), [[0.0; 21]; 11]);
        block.forward_batch::<11, 4>(&mut [], &mut scratch);
    }
    check::<Bert>();
    check::<Gpt2>();

    let (block, _) = block::<Bert>();
    let mut x = Sequence::<21, 0>::new();
    block.forward(&mut x, &mut boxed::<Scratch<21, 35, 0, 4>>());
    assert!(x.is_empty());
}

#[test]
fn nan_stays_in_its_sequence() {
    fn check<F: Family>() {
        let (block, mut scratch) = block::<F>();
        let mut random = Random(11);
        let mut batch = [const { Sequence::<21, 11>::new() }; 3];
        for (x, len) in batch.iter_mut().zip([7, 11, 5]) {
            x.assign(&random.tokens(len)).unwrap();
        }
        let mut alone = batch.clone();
        batch[1].tokens_mut()[5][2] = f32::NAN;
        block.forward_batch(&mut batch, &mut scratch);
        for (x, alone) in batch.iter().zip(&mut alone) {
            block.forward(alone, &mut scratch);
            assert!(alone.tokens().as_flattened().iter().all(|y| y.is_finite()));
            assert_eq!(x.len(), alone.len());
        }
        assert!(batch[1].tokens().as_flattened().iter().all(|y| y.is_nan()), "every token sees the NaN");
        assert_eq!((&batch[0], &batch[2]), (&alone[0], &alone[2]));
    }
    check::<Bert>();
    check::<Vit>();
}

#[test]
fn nan_is_not_seen_by_tokens_before_it() {
    fn check<const TILE: usize>() {
        let (block, _) = block::<Gpt2>();
        let mut scratch = boxed::<Scratch<21, 35, 11, TILE>>();
        let mut x = Sequence::<21, 11>::new();
        x.assign(&Random(11).tokens(11)).unwrap();
        let mut y = x.clone();
        y.tokens_mut()[5][2] = f32::NAN;
        block.forward(&mut x, &mut scratch);
        block.forward(&mut y, &mut scratch);
        for (i, (x, y)) in x.tokens().iter().zip(y.tokens()).enumerate().take(5) {
            assert_eq!(x, y, "token {i}, {TILE} at a time");
        }
        assert!(y.tokens()[5..].as_flattened().iter().all(|y| y.is_nan()));
    }
    check::<1>(); // in a tile of more, see `Causal`
}
