//! Forward passes in steps, ticks of layers, self-tests.

mod common;

use common::random::Random;
use constformer::{
    Bert, Classifier, Decoder, Encoder, EncoderBlock, Gpt2, InputError, Layer, Llama, Memory, Name, Observer,
    Parameters, PatchEmbedding, SelfTest, SelfTestFailed, Sequence, SteppedLayer, Vit, Working, Zero, boxed,
};

/// All steps of `layer`, of `len` of 13 tokens, and the bits of its output.
fn check<L: SteppedLayer<D>, const D: usize, const TILE: usize>(len: usize) -> usize {
    let mut random = Random(len as u64);
    let mut layer = boxed::<L>();
    random.fill(&mut *layer);
    let tokens = random.tokens::<D>(len);
    let mut scratch = boxed::<L::Scratch<13, TILE>>();
    let [mut at_once, mut x, mut y] = [(); 3].map(|()| boxed::<Sequence<D, 13, L::Stream>>());
    at_once.assign(&tokens).unwrap();
    layer.forward(&mut at_once, &mut scratch);

    x.assign(&tokens).unwrap();
    let steps = layer.start(&mut x, &mut scratch);
    let count = steps.len();
    assert_eq!(count, L::steps::<TILE>(len));
    assert!(steps.eq(0..count));
    assert_eq!(*x, *at_once);

    // Half of them, and the rest at once; what the scratch held does not matter.
    y.assign(&tokens).unwrap();
    let mut steps = layer.start(&mut y, &mut scratch);
    assert_eq!(steps.by_ref().take(count / 2).count(), count / 2);
    assert_eq!(steps.len(), count - count / 2);
    assert_eq!(*steps.finish(), *at_once);
    count
}

#[test]
fn steps_are_the_forward_pass_bit_for_bit() {
    for len in [0, 1, 2, 3, 7, 13] {
        check::<EncoderBlock<Bert, 12, 20, 3>, 12, 4>(len);
        check::<Encoder<Vit, 3, 12, 20, 3>, 12, 2>(len);
        check::<[EncoderBlock<Vit, 12, 20, 3>; 2], 12, 1>(len);
        check::<Decoder<Gpt2, 2, 12, 20, 3>, 12, 4>(len);
        check::<Decoder<Llama, 2, 12, 20, 6, f32, 3, 6>, 12, 5>(len);
        check::<Encoder<Bert, 0, 12, 20, 3>, 12, 4>(len);
    }
    // Keys and values of two tiles, then the tiles, in each of three layers; the norm.
    assert_eq!(check::<Encoder<Vit, 3, 12, 20, 3>, 12, 8>(13), 3 * 4 + 1);
    assert_eq!(check::<Decoder<Gpt2, 2, 12, 20, 3>, 12, 8>(13), 2 * 2 + 1);
}

type Model = Classifier<PatchEmbedding<5, 12, 9>, Encoder<Vit, 2, 12, 20, 3>, 12, 7>;

constformer::model! {
    struct Tested {
        model: Model,
        test: SelfTest<5, 8, 7>,
    }
}

fn tested() -> constformer::Boxed<Tested> {
    let mut tested = boxed::<Tested>();
    Random(3).fill(&mut *tested);
    let mut memory = boxed::<Memory<Model, 9, 4>>();
    tested.test.output = tested.model.forward(&tested.test.input, &mut memory).unwrap();
    tested
}

#[test]
fn a_classifier_in_steps() {
    let Tested { model, test } = &*tested();
    let mut memory = boxed::<Memory<Model, 9, 4>>();
    let mut steps = model.start(&test.input, &mut memory).unwrap();
    assert!(steps.by_ref().count() > 4);
    assert_eq!(model.finish(steps).unwrap(), test.output);
    let steps = model.start(&test.input, &mut memory).unwrap();
    assert_eq!(model.finish(steps).unwrap(), test.output);
    assert!(matches!(model.start(&[[0.0; 5]; 9], &mut memory).map(|_| ()), Err(InputError::TooLong(_))));
}

#[test]
fn a_self_test_finds_a_damaged_weight() {
    let mut tested = tested();
    let mut memory = boxed::<Memory<Model, 9, 4>>();
    let check = |tested: &Tested, memory: &mut Memory<Model, 9, 4>, tolerance| {
        tested.test.check(&tested.model.forward(&tested.test.input, memory).unwrap(), tolerance)
    };
    assert_eq!(check(&tested, &mut memory, 0.0), Ok(()));
    tested.model.encoder.blocks[1].attention.value.bias[3] += 0.5;
    let failed = check(&tested, &mut memory, 1e-5).unwrap_err();
    assert!(failed.to_string().starts_with("the self-test failed: output 0 is "), "{failed}");
    assert_eq!(check(&tested, &mut memory, 100.0), Ok(()));
    let test = SelfTest::<1, 1, 2>::ZERO;
    let found = test.check(&[0.0, f32::NAN], 1.0).unwrap_err();
    assert!(matches!(found, SelfTestFailed { place: 1, expected: 0.0, .. }));
    assert_eq!(SelfTest::<5, 8, 7>::COUNT, 47);
}

/// Ticks of a clock that goes on with every reading.
struct Ticks(Vec<String>);

impl Observer for Ticks {
    const ACTIVE: bool = false;

    fn see(&mut self, _: &Name<'_>, _: usize, _: &[f32]) {
        panic!("nothing is to be seen");
    }

    fn layer(&mut self, name: &Name<'_>) {
        self.0.push(name.to_string());
    }
}

#[test]
fn layers_are_told_when_they_are_done() {
    let Tested { model, test } = &*tested();
    let mut memory = boxed::<Memory<Model, 9, 4>>();
    let mut ticks = Ticks(vec![]);
    assert_eq!(model.observe(&test.input, &mut memory, &mut ticks).unwrap(), test.output);
    assert_eq!(ticks.0, ["encoder.blocks.0", "encoder.blocks.1"]);
    let Working { stream, scratch } = &mut *memory;
    model.encoder.observe(stream, scratch, &Name::ROOT, &mut ticks);
    assert_eq!(ticks.0[2..], ["blocks.0", "blocks.1"]);
}
