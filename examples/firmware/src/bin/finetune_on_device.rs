//! The board learns by itself: its camera is mounted the wrong way round, and a new head of the model `digits` learns to read what it sees.
//!
//! The model stays in flash as it is. Its features of the images are computed once; then the head, which lies in RAM with its gradient,
//! takes steps on all of them.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{
    Zero,
    training::{HeadOnly, Loss, Pass},
};
use firmware::{
    Trace, board,
    digits::{DIGITS, Example, LATER, LEARNT, MEMORY},
    report,
};
use static_cell::ConstStaticCell;

firmware::program!(run);

const STEPS: u32 = 100;
const RATE: f32 = 0.5;

/// The features of an image, and the digit that it is of.
type Lesson = ([f32; 32], u32);

/// All that training takes in RAM besides the memory of inference.
struct Training {
    head: HeadOnly<32, 10>,
    lessons: [Lesson; LEARNT],
}

static TRAINING: ConstStaticCell<Training> =
    ConstStaticCell::new(Training { head: HeadOnly::ZERO, lessons: [([0.0; 32], 0); LEARNT] });

/// The loss of all lessons; the gradient is added up.
fn learn(head: &mut HeadOnly<32, 10>, lessons: &[Lesson]) -> Option<Loss> {
    let mut loss = Loss::default();
    for (features, label) in lessons {
        loss += head.backward(features, *label, Pass::new(1.0 / LEARNT as f32)).ok()?;
    }
    Some(loss)
}

/// The mean of the losses, in thousandths.
#[expect(clippy::cast_sign_loss, reason = "a loss is not negative")]
fn thousandths(loss: Loss) -> u32 {
    (loss.mean() * 1e3) as u32
}

/// The digit with the highest logit.
fn best(logits: &[f32; 10]) -> u32 {
    let highest = |best: (u32, f32), (digit, logit): (u32, &f32)| if *logit > best.1 { (digit, *logit) } else { best };
    (0..).zip(logits).fold((0, f32::NEG_INFINITY), highest).0
}

fn run() -> bool {
    let (Some(memory), Some(Training { head, lessons })) = (MEMORY.try_take(), TRAINING.try_take()) else {
        return false;
    };
    let mut right_before = 0;
    for (example, lesson) in Example::learnt().zip(&mut *lessons) {
        let Ok(features) = DIGITS.features(&example.mirrored(), memory) else { return false };
        right_before += u32::from(best(&DIGITS.head.apply(&features)) == u32::from(example.label));
        *lesson = (features, example.label.into());
    }
    report::number("finetune.right.before", right_before);

    let (mut first, mut last, mut instructions) = (None, None, 0);
    for _ in 0..STEPS {
        instructions = board::count(|| {
            last = learn(head, lessons);
            head.step(RATE);
        });
        first = first.or(last);
    }
    let (Some(first), Some(last)) = (first, last) else { return false };
    report::number("finetune.loss.first", thousandths(first));
    report::number("finetune.loss.last", thousandths(last));
    report::number("finetune.instructions.step", instructions);
    report::number("finetune.bytes", size_of::<HeadOnly<32, 10>>() as u32);

    let mut weights = Trace::EMPTY;
    for output in 0..10 {
        let row: [f32; 32] = core::array::from_fn(|input| head.head.weight.get(input, output).unwrap_or(0.0));
        weights.add(&row);
    }
    weights.add(&head.head.bias);
    report::bits("finetune.weights", weights.hash);

    // Images that it has not learnt.
    let (mut before, mut after) = (0, 0);
    for example in Example::later() {
        let Ok(features) = DIGITS.features(&example.mirrored(), memory) else { return false };
        before += u32::from(best(&DIGITS.head.apply(&features)) == u32::from(example.label));
        after += u32::from(best(&head.forward(&features)) == u32::from(example.label));
    }
    report::number("finetune.later.images", LATER as u32);
    report::number("finetune.later.right.before", before);
    report::number("finetune.later.right.after", after);
    last.sum < first.sum && after > before
}
