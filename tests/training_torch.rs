//! Training against PyTorch, which computed `golden/torch_training.safetensors` in `f64` from parameters and inputs of `f32`:
//! gradients of layers and models, steps of optimizers, losses. `reference/torch_training.py`.

mod common;

use common::{ZERO, golden::Golden, largest, worst};
use constformer::{
    Bert, BertEmbedding, Boxed, Causal, Classifier, Custom, Decoder, Encoder, Gelu, Gpt2, HalfSplit, LanguageModel,
    Llama, Masked, MaskedLanguageModel, Parameters, PatchEmbedding, PostLn, PreLn, Relu, Sequence, TextEmbedding, Vit,
    WithFinalNorm, boxed,
    load::{HuggingFaceBert, HuggingFaceGpt2, HuggingFaceLlama, Scheme},
    training::{
        AdamW, CrossEntropy, Dropout, Gradient, IGNORE, Loss, Moments, Pass, Sgd, TrainableLayer, TrainableModel,
        TrainingMemory, clear, clip_norm, mean_squared_error,
    },
};

const FILE: &str = "torch_training.safetensors";
const LENGTHS: [usize; 3] = [11, 7, 2];
const STEPS: usize = 10;

type Tensors<T> = Vec<(String, Vec<T>)>;

fn tensors<T: From<f32>>(model: &impl Parameters) -> Tensors<T> {
    let mut tensors = vec![];
    model.for_each_tensor(|name, tensor| {
        tensors.push((name.to_string(), tensor.row_major().map(T::from).collect()));
    });
    tensors
}

fn from_torch<P: Parameters>(golden: &Golden) -> Boxed<P> {
    let mut model = boxed::<P>();
    golden.clone().from_torch().load(&mut *model).unwrap();
    model
}

fn from_hugging_face<S: Scheme, P: Parameters>(golden: &Golden) -> Boxed<P> {
    let mut model = boxed::<P>();
    golden.checkpoint().load::<S>(&mut *model).unwrap();
    model
}

/// The gradients of a layer, given those of its outputs; those of parameters add up over the sequences.
fn check_layer<L: TrainableLayer<D, Gradient = L> + Parameters, const D: usize>(
    case: &str,
    load: fn(&Golden) -> Boxed<L>,
) {
    let mut golden = Golden::open(FILE).part(&format!("{case}."));
    let (model, expected) = (load(&golden.part("parameter.")), load(&golden.part("gradient.")));
    let (mut saved, mut scratch) = (boxed::<L::Saved<11>>(), boxed::<L::GradientScratch<11, 4>>());
    let (mut gradient, mut found, mut exact) = (boxed::<L>(), vec![], vec![]);
    for (k, len) in LENGTHS.iter().enumerate() {
        let [mut x, mut dx] = ["input", "dy"].map(|name| {
            let mut tokens = Sequence::<D, 11>::new();
            tokens.assign(&golden.take(&format!("{name}.{k}")).rows()).unwrap();
            tokens
        });
        assert_eq!(x.len(), *len);
        model.forward_saved(&mut x, &mut saved, &mut scratch, Dropout::NONE);
        model.backward(&mut dx, &saved, &mut scratch, Dropout::NONE, &mut gradient);
        found.push((format!("input {k}"), dx.tokens().as_flattened().to_vec()));
        exact.push((format!("input {k}"), golden.take(&format!("dx.{k}")).numbers));
    }
    assert!(golden.tensors.is_empty(), "what is not tested");
    found.extend(tensors(&*gradient));
    exact.extend(tensors(&*expected));
    let (name, error) = worst(&found, &exact, ZERO);
    println!("{case}: max error {error:.1e}, of {name}");
    assert!(error <= 3e-5);
}

#[test]
fn layers() {
    check_layer::<Encoder<Custom<PostLn, Gelu>, 2, 9, 13, 3>, 9>("post_gelu", from_torch);
    check_layer::<Encoder<Custom<PostLn, Relu, WithFinalNorm>, 2, 9, 13, 3>, 9>("post_relu", from_torch);
    check_layer::<Encoder<Custom<PreLn, Gelu, WithFinalNorm>, 2, 9, 13, 3>, 9>("pre_gelu", from_torch);
    check_layer::<Encoder<Custom<PreLn, Relu>, 2, 9, 13, 3>, 9>("pre_relu", from_torch);
    check_layer::<Encoder<Masked<Custom<PreLn, Gelu, WithFinalNorm>, Causal>, 2, 9, 13, 3>, 9>("causal", from_torch);
    check_layer::<Decoder<Llama<HalfSplit>, 2, 24, 13, 6, f32, 2, 8>, 24>(
        "llama",
        from_hugging_face::<HuggingFaceLlama, _>,
    );
}

/// Trains a model: the loss of each step and after the last, the gradient of the first, and what the parameters become. `find` is
/// handed a step and adds to the gradient; `improve` returns the norm that the gradient had.
fn check_steps<M: TrainableModel>(
    case: &str,
    golden: &mut Golden,
    load: fn(&Golden) -> Boxed<M>,
    load_gradient: fn(&Golden) -> Boxed<Gradient<M>>,
    mut find: impl FnMut(usize, &M, &mut Gradient<M>) -> Loss,
    mut improve: impl FnMut(&mut M, &mut Gradient<M>) -> f32,
) {
    let mut model = load(&golden.part("parameter."));
    let (before, trained) = (tensors::<f64>(&*model), load(&golden.part("trained.")));
    let (losses, norms) = (golden.take("loss").numbers, golden.take("norm").numbers);
    assert_eq!((losses.len(), norms.len()), (STEPS + 1, STEPS));
    let mut gradient = boxed::<Gradient<M>>();
    for (step, expected) in losses.iter().enumerate() {
        let loss = find(step % STEPS, &model, &mut gradient).mean();
        println!("{case}, step {step}: loss {loss:.6}, off by {:.1e}", (loss - expected).abs());
        assert!((loss - expected).abs() <= 1e-5);
        if step == 0 {
            let expected = load_gradient(&golden.part("gradient."));
            let (name, error) = worst(&tensors(&*gradient), &tensors(&*expected), ZERO);
            println!("{case}: gradient, max error {error:.1e}, of {name}");
            assert!(error <= 3e-5);
        }
        if let Some(expected) = norms.get(step) {
            let norm = f64::from(improve(&mut model, &mut gradient));
            assert!((norm / expected - 1.0).abs() <= 1e-5, "a norm of {norm}, not {expected}");
            clear(&mut *gradient);
        }
    }

    // Relative to how far each tensor has gone. Keys' biases have a gradient of 0, which rounding decides the sign of.
    let (mut found, mut exact): (Tensors<f32>, Tensors<f64>) = (vec![], vec![]);
    let moved = tensors::<f64>(&*model).into_iter().zip(tensors::<f64>(&*trained)).zip(before);
    for (((name, model), (_, trained)), (_, before)) in moved.filter(|((model, _), _)| !model.0.ends_with("key.bias")) {
        found.push((name.clone(), model.iter().zip(&before).map(|(x, before)| (x - before) as f32).collect()));
        exact.push((name, trained.iter().zip(&before).map(|(x, before)| x - before).collect()));
    }
    assert!(exact.iter().all(|(_, moved)| largest(moved.iter().copied()) > 1e-4), "all of them have moved");
    let (name, error) = worst(&found, &exact, ZERO);
    println!("{case}: steps, max error {error:.1e}, of {name}");
    assert!(error <= 1e-3);
}

/// Ten steps of AdamW, the gradients clipped.
fn check_language_model<M, S: Scheme>(case: &str)
where
    M: for<'a> TrainableModel<Inputs<'a> = &'a [u32], Target<'a> = &'a [u32]>,
{
    let mut golden = Golden::open(FILE).part(&format!("{case}."));
    // As many numbers a step as there are sequences times the longest of them; -1 beyond the end, -100 for targets that do not count.
    let [inputs, targets] = ["input", "target"].map(|name| golden.take(name).numbers);
    let batch = |step: usize| -> Vec<(Vec<u32>, Vec<u32>)> {
        let range = step * 33..(step + 1) * 33;
        let rows = inputs[range.clone()].chunks(11).zip(targets[range].chunks(11));
        let row = |(ids, targets): (&[f64], &[f64])| {
            let ids: Vec<_> = ids.iter().filter(|id| **id >= 0.0).map(|id| *id as u32).collect();
            let of = |target: &f64| if *target < 0.0 { IGNORE } else { *target as u32 };
            let targets = targets.iter().take(ids.len()).map(of).collect();
            (ids, targets)
        };
        rows.map(row).collect()
    };
    assert_eq!(batch(3).into_iter().map(|(ids, _)| ids.len()).collect::<Vec<_>>(), LENGTHS);
    assert!((0..STEPS).any(|step| batch(step).iter().any(|(_, targets)| targets.contains(&IGNORE))));

    let mut memory = boxed::<TrainingMemory<M, 11, 4>>();
    let mut moments = boxed::<Moments<Gradient<M>>>();
    let optimizer = AdamW { beta2: 0.95, weight_decay: 0.1, ..AdamW::default() };
    let load = from_hugging_face::<S, M>;
    check_steps::<M>(
        case,
        &mut golden,
        load,
        from_hugging_face::<S, Gradient<M>>,
        |step, model, gradient| {
            let batch = batch(step);
            let count = batch.iter().flat_map(|(_, targets)| targets).filter(|target| **target != IGNORE).count();
            let mut loss = Loss::default();
            for (ids, targets) in &batch {
                let pass = Pass::new(1.0 / count as f32);
                loss += model.backward(ids, targets, pass, gradient, &mut memory).unwrap();
            }
            assert_eq!(loss.count, count);
            loss
        },
        |model, gradient| {
            let norm = clip_norm(gradient, 1.0);
            optimizer.step(model, gradient, &mut moments, 1e-3);
            norm
        },
    );
    assert!(golden.tensors.is_empty(), "what is not tested");
    assert_eq!(moments.steps(), STEPS as u32);
}

#[test]
fn gpt2() {
    type Model = LanguageModel<TextEmbedding<23, 9, 11>, Decoder<Gpt2, 2, 9, 13, 3>, 9, 23>;
    check_language_model::<Model, HuggingFaceGpt2>("gpt2");
}

#[test]
fn bert() {
    type Model = MaskedLanguageModel<BertEmbedding<23, 9, 11>, Encoder<Bert, 2, 9, 13, 3>, 9, 23>;
    check_language_model::<Model, HuggingFaceBert>("bert");
}

/// Ten steps of SGD with momentum, with label smoothing.
#[test]
fn vit() {
    type Model = Classifier<PatchEmbedding<5, 9, 7>, Encoder<Vit, 2, 9, 13, 3>, 9, 7>;
    let mut golden = Golden::open(FILE).part("vit.");
    let (images, labels) = (golden.take("input").rows::<5>(), golden.take("target").numbers);
    let mut memory = boxed::<TrainingMemory<Model, 7, 4>>();
    let mut velocity = boxed::<Model>();
    let loss = CrossEntropy::new().label_smoothing(0.1).unwrap();
    check_steps::<Model>(
        "vit",
        &mut golden,
        from_torch,
        from_torch,
        |_, model, gradient| {
            let mut total = Loss::default();
            for (patches, label) in images.chunks(6).zip(&labels) {
                let pass = Pass { loss, ..Pass::new(1.0 / 3.0) };
                total += model.backward(patches, *label as u32, pass, gradient, &mut memory).unwrap();
            }
            total
        },
        |model, gradient| {
            let norm = clip_norm(gradient, f32::INFINITY);
            Sgd { momentum: 0.9, weight_decay: 0.1 }.step(model, gradient, &mut velocity, 0.05);
            norm
        },
    );
    assert!(golden.tensors.is_empty(), "what is not tested");
}

#[test]
fn losses() {
    let mut golden = Golden::open(FILE).part("losses.");
    let (logits, labels) = (golden.take("logits").rows::<19>(), golden.take("label").numbers);
    for smoothing in ["0.0", "0.1", "1.0"] {
        let loss = CrossEntropy::new().label_smoothing(smoothing.parse().unwrap()).unwrap();
        let expected = golden.take(&format!("cross_entropy.{smoothing}")).numbers;
        let gradients = golden.take(&format!("cross_entropy.{smoothing}.gradient")).numbers;
        for (((logits, label), expected), gradient) in
            logits.iter().zip(&labels).zip(expected).zip(gradients.chunks(19))
        {
            // The weight is that of the gradient alone.
            let mut found = *logits;
            let loss = f64::from(loss.backward(&mut found, *label as u32, 2.0).unwrap());
            let error = common::max_error(&found, gradient.iter().map(|g| 2.0 * g));
            let relative = (loss - expected).abs() / expected.max(1.0);
            println!(
                "cross entropy, smoothed by {smoothing}: {expected:.3}, off by {relative:.1e}, gradient {error:.1e}"
            );
            assert!(relative <= 1e-6 && error <= 1e-6);
        }
    }
    let (y, targets) = (golden.take("y").rows::<19>(), golden.take("target").rows::<19>());
    let (expected, gradients) = (golden.take("mse").numbers, golden.take("mse.gradient").numbers);
    for (((mut y, target), expected), gradient) in y.into_iter().zip(targets).zip(expected).zip(gradients.chunks(19)) {
        let loss = f64::from(mean_squared_error(&mut y, &target, 2.0));
        assert!((loss - expected).abs() <= 1e-6 * expected);
        assert!(common::max_error(&y, gradient.iter().map(|g| 2.0 * g)) <= 1e-6);
    }
    assert!(golden.tensors.is_empty(), "what is not tested");
}

/// No case is forgotten.
#[test]
fn all_of_the_file() {
    let mut golden = Golden::open(FILE);
    let about = r#""layers": 2, "d_model": 9, "d_ff": 13, "heads": 3, "lengths": [11, 7, 2], "steps": 10"#;
    assert!(golden.reference.contains(about), "{}", golden.reference);
    for case in ["post_gelu", "post_relu", "pre_gelu", "pre_relu", "causal", "llama", "gpt2", "bert", "vit", "losses"] {
        assert!(!golden.part(&format!("{case}.")).tensors.is_empty());
    }
    assert!(golden.tensors.is_empty());
}
