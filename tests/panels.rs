//! Panels: all ways in and out of a matrix agree with one another and with `nalgebra`'s product, at shapes whose panels are
//! of all widths.

use constformer::{KnownWidth, Linear, Panels, Parameters, Sequence, Shape, Width, Zero, parameters::WrongCount};
use nalgebra::{SMatrix, SVector};

/// For each shape: inputs, outputs.
macro_rules! for_each_shape {
    ($check:ident) => {
        $check::<1, 1>();
        $check::<2, 3>();
        $check::<7, 37>();
        $check::<13, 61>();
        $check::<5, 97>();
        $check::<3, 32>();
        $check::<11, 33>();
    };
}

/// Another number at every place; row by row as in PyTorch they are 1, 2, 3, ...
fn weight<const IN: usize>(input: usize, output: usize) -> f32 {
    (output * IN + input + 1) as f32
}

/// 1, 2, 3, ..., as many as there are weights
fn counting<const IN: usize, const OUT: usize>() -> Vec<f32> {
    (1..=IN * OUT).map(|i| i as f32).collect()
}

fn panels<const IN: usize, const OUT: usize>() -> Panels<IN, OUT> {
    let mut panels = Panels::ZERO;
    panels.copy_from_out_in(&std::array::from_fn(|output| std::array::from_fn(|input| weight::<IN>(input, output))));
    panels
}

fn stored<const IN: usize, const OUT: usize>(panels: &Panels<IN, OUT>) -> Vec<f32> {
    let mut stored = vec![];
    panels.for_each_tensor(|_, tensor| stored.extend(tensor.stored()));
    stored
}

#[test]
fn all_ways_in_are_the_same() {
    fn check<const IN: usize, const OUT: usize>() {
        let expected = stored(&panels::<IN, OUT>());

        let mut in_out = Panels::<IN, OUT>::ZERO;
        let rows = std::array::from_fn(|input| std::array::from_fn(|output| weight::<IN>(input, output)));
        in_out.copy_from_in_out(&rows);
        assert_eq!(stored(&in_out), expected);

        let mut matrix = Panels::<IN, OUT>::ZERO;
        matrix.copy_from_matrix(&SMatrix::from_fn(|output, input| weight::<IN>(input, output)));
        assert_eq!(stored(&matrix), expected);

        let mut one_by_one = Panels::<IN, OUT>::ZERO;
        for input in 0..IN {
            for output in 0..OUT {
                one_by_one.set(input, output, weight::<IN>(input, output));
            }
        }
        assert_eq!(stored(&one_by_one), expected);

        let mut row_major = Panels::<IN, OUT>::ZERO;
        row_major.for_each_tensor_mut(|_, mut tensor| {
            tensor.set_row_major(counting::<IN, OUT>().into_iter()).unwrap();
        });
        assert_eq!(stored(&row_major), expected);
    }
    for_each_shape!(check);
}

#[test]
fn all_ways_out_are_the_same() {
    fn check<const IN: usize, const OUT: usize>() {
        let panels = panels::<IN, OUT>();
        let mut matrix = SMatrix::<f32, OUT, IN>::zeros();
        panels.copy_to_matrix(&mut matrix);
        for input in 0..IN {
            for output in 0..OUT {
                assert_eq!(panels.get(input, output), Some(weight::<IN>(input, output)));
                assert_eq!(matrix[(output, input)], weight::<IN>(input, output));
            }
        }
        panels.for_each_tensor(|name, tensor| {
            assert_eq!(name.to_string(), "");
            assert_eq!(tensor.shape(), Shape::Matrix([OUT, IN]));
            assert_eq!(tensor.row_major().collect::<Vec<_>>(), counting::<IN, OUT>());
            assert_eq!(tensor.get(OUT - 1, 0), Some(weight::<IN>(0, OUT - 1)));
        });
    }
    for_each_shape!(check);
}

#[test]
fn every_weight_is_stored_once() {
    fn check<const IN: usize, const OUT: usize>() {
        let mut stored = stored(&panels::<IN, OUT>());
        assert_eq!(size_of::<Panels<IN, OUT>>(), size_of_val(&stored[..]));
        stored.sort_by(f32::total_cmp);
        assert_eq!(stored, counting::<IN, OUT>());
    }
    for_each_shape!(check);
}

#[test]
fn outside_there_is_nothing() {
    fn check<const IN: usize, const OUT: usize>() {
        let mut panels = panels::<IN, OUT>();
        let before = stored(&panels);
        for (input, output) in [(IN, 0), (0, OUT), (IN, OUT), (usize::MAX, 0), (0, usize::MAX)] {
            assert_eq!(panels.get(input, output), None);
            panels.set(input, output, 0.5);
        }
        panels.for_each_tensor_mut(|_, mut tensor| {
            assert_eq!((tensor.get(OUT, 0), tensor.get(0, IN)), (None, None));
            tensor.set(OUT, 0, 0.5);
            tensor.set(0, IN, 0.5);
        });
        assert_eq!(stored(&panels), before);
    }
    for_each_shape!(check);
}

#[test]
fn a_wrong_count_changes_nothing() {
    fn check<const IN: usize, const OUT: usize>() {
        let mut panels = panels::<IN, OUT>();
        let before = stored(&panels);
        for found in [0, IN * OUT - 1, IN * OUT + 1] {
            panels.for_each_tensor_mut(|_, mut tensor| {
                let error = tensor.set_row_major(vec![0.5; found].into_iter()).unwrap_err();
                assert_eq!(error, WrongCount { shape: Shape::Matrix([OUT, IN]), found });
                let message = format!("a tensor of shape [{OUT}, {IN}] takes {} numbers, found {found}", IN * OUT);
                assert_eq!(error.to_string(), message);
            });
        }
        assert_eq!(stored(&panels), before);
    }
    for_each_shape!(check);
}

#[test]
fn a_vector_is_one_row() {
    let mut vector = [1.0, 2.0, 3.0, 4.0, 5.0];
    vector.for_each_tensor_mut(|_, mut tensor| {
        assert_eq!(tensor.shape(), Shape::Vector([5]));
        assert_eq!((tensor.get(0, 4), tensor.get(0, 5), tensor.get(1, 0)), (Some(5.0), None, None));
        let error = tensor.set_row_major([0.0; 7].into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "a tensor of shape [5] takes 5 numbers, found 7");
        assert_eq!(tensor.row_major().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        tensor.set_row_major([6.0, 7.0, 8.0, 9.0, 10.0].into_iter()).unwrap();
    });
    assert_eq!(vector, [6.0, 7.0, 8.0, 9.0, 10.0]);
}

#[test]
fn products_are_those_of_nalgebra() {
    /// More than one register tile, and some left over.
    const SEQ_LEN: usize = 17;

    fn check<const IN: usize, const OUT: usize>()
    where
        Width<IN>: KnownWidth,
    {
        let mut linear = Linear::<IN, OUT>::ZERO;
        linear.weight = panels();
        linear.bias = std::array::from_fn(|output| 100.0 * output as f32);
        // Small whole numbers, so the products are exact.
        let x = SMatrix::<f32, IN, SEQ_LEN>::from_fn(|input, token| ((7 * input + 3 * token) % 5) as f32 - 2.0);
        let w = SMatrix::<f32, OUT, IN>::from_fn(|output, input| weight::<IN>(input, output));
        let mut expected = w * x;
        expected.column_iter_mut().for_each(|mut y| y += SVector::from(linear.bias));

        let mut y = Sequence::<OUT, SEQ_LEN>::new();
        linear.forward(&Sequence::from(x), &mut y);
        assert_eq!(y.matrix(), expected);
        for (x, y) in x.column_iter().zip(expected.column_iter()) {
            assert_eq!(SVector::from(linear.apply(&x.into_owned().into())), y);
        }
    }
    for_each_shape!(check);
}
