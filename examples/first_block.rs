//! `cargo run --release --example first_block`: two sequences through positions, blocks and a stack.
//!
//! Every shape printed here is read off a type; the compiler has checked that each fits the next.

use constformer::{
    Bert, Encoder, EncoderBlock, Fingerprint, Layer, LayerNorm, Norm, Parameters, Plan, Scratch, Sequence,
    SinusoidalPositions, Vit, Zero, boxed,
};

const SEQ_LEN: usize = 8;
const D_MODEL: usize = 32;
const D_FF: usize = 128;
const HEADS: usize = 4;

type PreLnBlock = EncoderBlock<Vit, D_MODEL, D_FF, HEADS>; // the vision transformer's blocks are Pre-LN
type PostLnBlock = EncoderBlock<Bert, D_MODEL, D_FF, HEADS>; // and BERT's are Post-LN
type Stack = Encoder<Vit, 6, D_MODEL, D_FF, HEADS>;
type Batch = [Sequence<D_MODEL, SEQ_LEN>; 2];

static POSITIONS: SinusoidalPositions<D_MODEL, SEQ_LEN> = SinusoidalPositions::new();

/// The shape of a batch, from its type alone, and the root of the mean square of its numbers.
fn report<const B: usize, const D: usize, const S: usize>(step: &str, batch: &[Sequence<D, S>; B]) {
    let numbers = batch.iter().flat_map(|x| x.tokens().as_flattened());
    let mean_square = numbers.clone().map(|x| x * x).sum::<f32>() / numbers.count() as f32;
    println!("{step:28} [batch {B}, SEQ_LEN {S}, D_MODEL {D}]   root mean square {:.3}", mean_square.sqrt());
}

/// The memory plan of a model: constants, known before it runs.
fn plan<M: constformer::Model>(name: &str) {
    println!(
        "{name:28} {:>10} {:>10} {:>10} {:>12}",
        Plan::<M, SEQ_LEN, 4>::PARAMETERS,
        Plan::<M, SEQ_LEN, 4>::FLASH,
        Plan::<M, SEQ_LEN, 4>::RAM,
        Plan::<M, SEQ_LEN, 4>::MACS,
    );
}

/// Small pseudo-random numbers; gains of norms become about 1. A real model gets its weights from an image.
fn randomise<M: Parameters>(model: &mut M) {
    let mut state = M::FINGERPRINT.0;
    model.for_each_tensor_mut(|name, mut tensor| {
        let centre = if name.to_string().ends_with("norm.weight") { 1.0 } else { 0.0 };
        for number in tensor.stored_mut() {
            state = Fingerprint(state).number(1).0;
            *number = centre + ((state >> 40) as f32 / (1u32 << 24) as f32 - 0.5) * 0.2;
        }
    });
}

fn main() -> Result<(), constformer::TooLong> {
    let mut pre_ln = boxed::<PreLnBlock>();
    let mut post_ln = boxed::<PostLnBlock>();
    let mut stack = boxed::<Stack>();
    randomise(&mut *pre_ln);
    randomise(&mut *post_ln);
    randomise(&mut *stack);

    // Two sequences of eight tokens of 32 features.
    let mut batch = Batch::ZERO;
    for (i, x) in batch.iter_mut().enumerate() {
        for p in 0..SEQ_LEN {
            x.push(&std::array::from_fn(|feature| ((i + 1) * (p + feature)) as f32 * 0.01))?;
        }
    }
    report("input", &batch);

    batch.iter_mut().for_each(|x| POSITIONS.forward(x));
    report("+ sinusoidal positions", &batch);

    let mut scratch = Scratch::<D_MODEL, D_FF, SEQ_LEN>::ZERO; // one for all layers below
    pre_ln.forward_batch(&mut batch, &mut scratch);
    report("Pre-LN block", &batch);
    post_ln.forward_batch(&mut batch, &mut scratch);
    report("Post-LN block", &batch);
    stack.forward_batch(&mut batch, &mut scratch);
    report("stack of 6 Pre-LN blocks", &batch);
    batch.iter_mut().for_each(|x| LayerNorm::<D_MODEL>::ONE.forward(x.tokens_mut()));
    report("LayerNorm", &batch);

    println!(
        "\n{:28} {:>10} {:>10} {:>10} {:>12}",
        "plan, 4 tokens at a time", "parameters", "flash (B)", "RAM (B)", "multiply-adds"
    );
    plan::<PreLnBlock>("Pre-LN block");
    plan::<PostLnBlock>("Post-LN block");
    plan::<Stack>("stack of 6");

    // What the compiler refuses, each with the names and numbers in the message. Take off a comment and run `cargo check`;
    // the messages are pinned in `tests/refused/`.

    // let block = boxed::<EncoderBlock<Vit, 32, 128, 5>>();               // 5 heads do not divide 32
    // let block = boxed::<EncoderBlock<Vit, 32, 128, 0>>();               // zero heads
    // pre_ln.forward(&mut Sequence::<48, 8>::new(), &mut scratch);        // 48 features into a block of 32
    // pre_ln.forward(&mut Sequence::<32, 16>::new(), &mut scratch);       // scratch for 8 tokens, sequence of 16
    // let stack = [PreLnBlock::ZERO, EncoderBlock::<Vit, 64, 128, 4>::ZERO]; // blocks of two widths
    // let stack = [PreLnBlock::ZERO, PostLnBlock::ZERO];                  // blocks of two families
    // const _: () = Plan::<Stack, 8, 4>::assert_fits(300_000, 16_384);    // more flash than there is
    Ok(())
}
