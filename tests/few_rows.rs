//! A row of a product is the same bits, alone and among others: whatever number of panels is multiplied at once.

mod common;

use common::random::Random;
use constformer::{KnownWidth, Linear, Sequence, Width, boxed};

#[test]
fn a_row_alone_is_the_row_among_others() {
    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut random = Random(5);
        let mut linear = boxed::<Linear<IN, OUT>>();
        random.fill(&mut *linear);
        let tokens = random.tokens::<IN>(11);
        let [mut x, mut y] = [boxed::<Sequence<IN, 11>>(), boxed()];
        let mut all = boxed::<Sequence<OUT, 11>>();
        x.assign(&tokens).unwrap();
        linear.forward(&x, &mut all);
        for len in 1..=4 {
            let mut some = boxed::<Sequence<OUT, 11>>();
            y.assign(&tokens[..len]).unwrap();
            linear.forward(&y, &mut some);
            assert_eq!(some.tokens(), &all.tokens()[..len], "{IN} x {OUT}, {len} rows");
        }
    }
    check::<7, 31>();
    check::<7, 32>();
    check::<5, 67>();
    check::<11, 96>();
    check::<3, 113>();
    check::<13, 128>();
    check::<5, 160>();
    check::<17, 192>();
    check::<7, 224>();
    check::<3, 263>();
}
