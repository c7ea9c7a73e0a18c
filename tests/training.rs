//! Whole models in training: gradients against differences of the loss, optimizers, dropout, checkpoints, adapters.

use constformer::{
    Bert, BertEmbedding, Boxed, Classifier, Custom, Decoder, Encoder, FirstToken, Gelu, Gpt2, HalfSplit, Kwt,
    LanguageModel, Linear, Llama, Lora, MaskedLanguageModel, Mean, Memory, NoFinalNorm, Parameters, PatchEmbedding,
    PreLn, TextEmbedding, TokenEmbedding, Transformer, UnknownToken, Vit, WithFinalNorm, boxed, image,
    sampling::Rng,
    training::{
        AdamW, Checkpoint, CrossEntropy, Dropout, Frozen, Gradient, HeadOnly, IGNORE, Initialization, Loss, Masking,
        Moments, Pass, Sgd, TrainableModel, TrainingError, TrainingMemory, WarmUpCosine, Workers, WrongTargets,
        accumulate, adapt, clear, clip_norm, mean_squared_error, merge, norm,
    },
};
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};

type Gpt<T = f32> = LanguageModel<TextEmbedding<11, 12, 7>, Decoder<Gpt2, 2, 12, 20, 3, T>, 12, 11>;

fn rng() -> SplitMix64 {
    SplitMix64::seed_from_u64(17)
}

/// A model whose parameters are all of the order of 1, so that none has a gradient of nearly nothing.
fn random<M: Parameters>() -> Boxed<M> {
    let (mut model, mut rng) = (boxed::<M>(), rng());
    Initialization::PyTorch.fill(&mut *model, &mut rng);
    model.for_each_tensor_mut(|_, mut tensor| {
        for x in tensor.stored_mut() {
            *x += ((rng.next_u64() >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 0.4;
        }
    });
    model
}

fn numbers<M: Parameters>(model: &M) -> Vec<(String, Vec<f32>)> {
    let mut all = vec![];
    model.for_each_tensor(|name, tensor| all.push((name.to_string(), tensor.stored().to_vec())));
    all
}

fn bits<M: Parameters>(model: &M) -> Vec<u32> {
    numbers(model).into_iter().flat_map(|(_, numbers)| numbers).map(f32::to_bits).collect()
}

/// Moves the tensor `name` by `step` times `direction`.
fn shift<M: Parameters>(model: &mut M, name: &str, direction: &[f32], step: f32) {
    model.for_each_tensor_mut(|other, mut tensor| {
        if other.to_string() == name {
            tensor.stored_mut().iter_mut().zip(direction).for_each(|(x, d)| *x += step * d);
        }
    });
}

/// For each tensor, the gradient in a random direction against the difference of losses: they are computed in `f32`, so to 1 %.
fn check<M: TrainableModel>(mut loss: impl FnMut(&M) -> f64, gradient: &M::Gradient, model: &mut M) {
    let (mut rng, mut checked) = (rng(), 0);
    for (name, gradient) in numbers(gradient) {
        if gradient.is_empty() {
            continue;
        }
        let direction: Vec<f32> =
            gradient.iter().map(|_| (rng.next_u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect();
        let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
        let size: f64 = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let h = 2e-2 / (gradient.len() as f32).sqrt();
        let mut at = |step: f32| {
            shift(model, &name, &direction, step);
            let loss = loss(model);
            shift(model, &name, &direction, -step);
            loss
        };
        // Differences of the fourth order, so that a large step does, whose loss has digits that differ.
        let near = at(h) - at(-h);
        let far = at(2.0 * h) - at(-2.0 * h);
        let found = (8.0 * near - far) / (12.0 * f64::from(h));
        assert!(
            (found - expected).abs() <= 0.01 * size + 2e-3,
            "{name}: {expected} by the gradient, {found} by differences, of a gradient of {size}"
        );
        checked += 1;
    }
    assert!(checked >= 2);
}

/// As [`check`], for a model and its loss.
fn check_model<'a, M>(inputs: M::Inputs<'a>, target: M::Target<'a>)
where
    M: TrainableModel<Inputs<'a>: Copy, Target<'a>: Copy>,
{
    let mut model = random::<M>();
    let mut gradient = boxed::<M::Gradient>();
    let mut memory = boxed::<TrainingMemory<M, 7, 3>>();
    let smooth = CrossEntropy::new().label_smoothing(0.1).unwrap();
    let pass = Pass { loss: smooth, ..Pass::new(1.0) };
    let loss = model.backward(inputs, target, pass, &mut gradient, &mut memory).unwrap();
    let mut other = boxed::<TrainingMemory<M, 7, 7>>();
    let again = model.loss(inputs, target, smooth, &mut other).unwrap();
    assert!((loss.sum - again.sum).abs() < 1e-4 * loss.sum && loss.count == again.count);
    check(|model: &M| model.loss(inputs, target, smooth, &mut memory).unwrap().sum, &*gradient, &mut *model);
}

#[test]
fn gradients_of_language_models() {
    let (text, next): (&[u32], &[u32]) = (&[3, 1, 4, 1, 5, 9, 2], &[1, 4, IGNORE, 5, 9, 2, 6]);
    check_model::<Gpt>(text, next);
    check_model::<Gpt>(&text[..1], &next[..1]);
    check_model::<LanguageModel<TokenEmbedding<11, 16>, Decoder<Llama, 2, 16, 20, 4, f32, 2, 8>, 16, 11>>(text, next);
    check_model::<
        LanguageModel<
            TokenEmbedding<11, 16>,
            Decoder<Llama<HalfSplit>, 2, 16, 20, 4, f32, 1, 4>,
            16,
            11,
            Linear<16, 11, f32, constformer::NoBias>,
        >,
    >(text, next);
}

#[test]
fn gradients_of_masked_language_models() {
    type Model = MaskedLanguageModel<BertEmbedding<11, 12, 7>, Encoder<Bert, 2, 12, 20, 3>, 12, 11>;
    check_model::<Model>(&[3, 1, 0, 1, 5, 0, 2], &[IGNORE, IGNORE, 4, IGNORE, IGNORE, 9, IGNORE]);
}

#[test]
fn gradients_of_classifiers() {
    let patches: [[f32; 5]; 6] = std::array::from_fn(|p| std::array::from_fn(|i| ((p * 5 + i) as f32 * 0.7).sin()));
    check_model::<Classifier<PatchEmbedding<5, 12, 7>, Encoder<Vit, 2, 12, 20, 3>, 12, 4>>(&patches, 2);
    check_model::<Classifier<PatchEmbedding<5, 12, 7>, Encoder<Vit, 2, 12, 20, 3>, 12, 4, Mean>>(&patches, 0);
    check_model::<Classifier<TextEmbedding<9, 12, 7>, [Encoder<Kwt, 1, 12, 20, 3>; 2], 12, 4, Mean>>(&[1, 8, 3], 3);
}

#[test]
fn gradients_of_transformers() {
    let (source, target): (&[u32], &[u32]) = (&[3, 1, 4, 1, 5], &[9, 2, 6, 5, 3, 5, 8]);
    check_model::<Transformer<Kwt, 2, 12, 20, 3, 11, 7>>((source, target), &[2, 6, 5, 3, 5, IGNORE, 9]);
    check_model::<Transformer<Custom<PreLn, Gelu, WithFinalNorm>, 2, 12, 20, 3, 11, 7>>(
        (source, &target[..3]),
        &[2, 6, 5],
    );
    check_model::<Transformer<Custom<constformer::PostLn, Gelu, NoFinalNorm>, 1, 12, 20, 4, 11, 7>>(
        (&source[..1], &target[..1]),
        &[2],
    );
}

#[test]
fn gradients_of_adapters_and_below_frozen_layers() {
    let (text, next): (&[u32], &[u32]) = (&[3, 1, 4, 1, 5, 9, 2], &[1, 4, 1, 5, 9, 2, 6]);
    check_model::<Gpt<Lora<3>>>(text, next);
    check_model::<Gpt<Lora<0>>>(text, next);
    check_model::<LanguageModel<TextEmbedding<11, 12, 7>, Frozen<Decoder<Gpt2, 2, 12, 20, 3>>, 12, 11>>(text, next);
    check_model::<LanguageModel<TextEmbedding<11, 12, 7>, [Frozen<Decoder<Gpt2, 1, 12, 20, 3, Lora<0>>>; 2], 12, 11>>(
        text, next,
    );
}

/// Masks are a function of the pass alone, so a model with dropout is a function too, and its gradient is that of it.
#[test]
fn gradient_with_dropout_is_that_of_what_was_computed() {
    let (text, next): (&[u32], &[u32]) = (&[3, 1, 4, 1, 5, 9, 2], &[1, 4, 1, 5, 9, 2, 6]);
    let mut memory = boxed::<TrainingMemory<Gpt, 7, 3>>();
    let (mut model, mut gradient, mut waste) = (random::<Gpt>(), boxed::<Gpt>(), boxed::<Gpt>());
    let pass = Pass { dropout: Dropout::new(0.3, 5).unwrap().pass(2), ..Pass::new(1.0) };
    model.backward(text, next, pass, &mut gradient, &mut memory).unwrap();
    let mut loss = |model: &Gpt| model.backward(text, next, pass, &mut waste, &mut memory).unwrap().sum;
    check(&mut loss, &*gradient, &mut *model);
    // And another pass has another loss.
    let other = Pass { dropout: Dropout::new(0.3, 5).unwrap().pass(3), ..pass };
    let first = loss(&model);
    let mut memory = boxed::<TrainingMemory<Gpt, 7, 3>>();
    assert_ne!(first, model.backward(text, next, other, &mut boxed(), &mut memory).unwrap().sum);
}

#[test]
fn rate_of_zero_is_no_dropout() {
    let (model, mut memory) = (random::<Gpt>(), boxed::<TrainingMemory<Gpt, 7>>());
    let mut gradients = [Dropout::NONE, Dropout::new(0.0, 99).unwrap().pass(4)].map(|dropout| {
        let mut gradient = boxed::<Gpt>();
        let pass = Pass { dropout, ..Pass::new(1.0) };
        model.backward(&[3, 1, 4], &[1, 4, 1], pass, &mut gradient, &mut memory).unwrap();
        bits(&*gradient)
    });
    let last = gradients[1].split_off(0);
    assert_eq!(gradients[0], last);
}

#[test]
fn wrong_input_is_refused_and_changes_nothing() {
    let (model, mut memory, mut gradient) =
        (random::<Gpt>(), boxed::<TrainingMemory<Gpt, 7>>(), boxed::<Gradient<Gpt>>());
    let mut try_it = |inputs: &[u32], targets: &[u32]| {
        let error = model.backward(inputs, targets, Pass::new(1.0), &mut gradient, &mut memory).unwrap_err();
        assert_eq!(norm(&*gradient), 0.0);
        (error, error.to_string())
    };
    let (error, text) = try_it(&[1, 2], &[3]);
    assert_eq!(error, TrainingError::WrongTargets(WrongTargets { inputs: 2, targets: 1 }));
    assert_eq!(text, "a target for each of 2 inputs expected, found 1");
    let (error, text) = try_it(&[1], &[11]);
    assert_eq!(error, TrainingError::UnknownTarget(UnknownToken { id: 11, vocabulary: 11 }));
    assert_eq!(text, "a target below 11, or `IGNORE`, expected, found 11");
    assert_eq!(try_it(&[], &[]).1, "no tokens, where there must be one at least");
    assert_eq!(try_it(&[1; 8], &[1; 8]).1, "8 tokens, where there is room for 7");
    assert_eq!(try_it(&[12], &[1]).1, "token id 12 in a vocabulary of 11");
    assert!(Dropout::new(1.0, 0).is_err() && Dropout::new(-0.1, 0).is_err() && Dropout::new(f32::NAN, 0).is_err());
    assert!(CrossEntropy::new().label_smoothing(1.1).is_err());
}

#[test]
fn nothing_to_learn_is_no_gradient() {
    let (model, mut memory, mut gradient) = (random::<Gpt>(), boxed::<TrainingMemory<Gpt, 7>>(), boxed::<Gpt>());
    let loss = model.backward(&[1, 2], &[IGNORE; 2], Pass::new(1.0), &mut gradient, &mut memory).unwrap();
    assert_eq!((loss, norm(&*gradient)), (Loss::default(), 0.0));
}

/// Two sequences give what each gives, added up; threads do too.
#[test]
fn gradients_add_up() {
    let (model, mut memory) = (random::<Gpt>(), boxed::<TrainingMemory<Gpt, 7>>());
    let texts = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]];
    let mut alone = boxed::<Gpt>();
    let mut together = boxed::<Gpt>();
    let mut total = Loss::default();
    for text in &texts {
        let mut gradient = boxed::<Gpt>();
        for gradient in [&mut *gradient, &mut *together] {
            total += model.backward(&text[..4], &text[1..], Pass::new(0.5), gradient, &mut memory).unwrap();
        }
        accumulate(&mut *alone, &*gradient);
    }
    let mut workers = Workers::<Gpt, 7>::new(2);
    let example = |_, text: &'static [u32; 5]| (&text[..4], &text[1..], Pass::new(0.5));
    let texts: &'static [[u32; 5]; 3] = Box::leak(Box::new(texts));
    let loss = workers.backward(&model, texts, example).unwrap();
    assert!((2.0 * loss.sum - total.sum).abs() < 1e-9 && 2 * loss.count == total.count);
    let first = bits(workers.gradient());
    for gradient in [&*alone, workers.gradient()] {
        for (found, expected) in
            numbers(gradient).iter().zip(numbers(&*together)).flat_map(|(a, b)| a.1.clone().into_iter().zip(b.1))
        {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
    workers.backward(&model, texts, example).unwrap();
    assert_eq!(first, bits(workers.gradient()), "the same bits again");
}

/// One step of training on a text that depends on the step.
fn step(state: &mut Checkpoint<Gpt, Moments<Gpt>>, gradient: &mut Gpt, memory: &mut TrainingMemory<Gpt, 7>) -> f64 {
    let n = state.optimizer.steps();
    let text: Vec<u32> = (0..8).map(|i| (n * 7 + i * i) % 11).collect();
    let dropout = Dropout::new(0.1, 3).unwrap().pass(n.into());
    let pass = Pass { dropout, ..Pass::new(1.0 / 7.0) };
    let loss = state.model.backward(&text[..7], &text[1..], pass, gradient, memory).unwrap();
    clip_norm(gradient, 1.0);
    let rate = WarmUpCosine { warm_up: 5, steps: 20, peak: 1e-2, end: 1e-3 }.rate(n);
    AdamW::default().step(&mut state.model, gradient, &mut state.optimizer, rate);
    clear(gradient);
    loss.mean()
}

#[test]
fn training_goes_on_from_a_checkpoint_to_the_same_bits() {
    let begin = || {
        let mut state = boxed::<Checkpoint<Gpt, Moments<Gpt>>>();
        Initialization::ScaledNormal.fill(&mut state.model, &mut rng());
        state
    };
    let (mut gradient, mut memory) = (boxed::<Gpt>(), boxed());
    let mut through = begin();
    let losses: Vec<f64> = (0..20).map(|_| step(&mut through, &mut gradient, &mut memory)).collect();
    assert!(losses[15..].iter().sum::<f64>() < losses[..5].iter().sum::<f64>(), "{losses:?}");

    let path = std::env::temp_dir().join(format!("constformer-training-{}.cfm", std::process::id()));
    let mut state = begin();
    for _ in 0..10 {
        step(&mut state, &mut gradient, &mut memory);
    }
    image::write(&path, &*state).unwrap();
    drop(state);
    let (mut gradient, mut memory) = (boxed::<Gpt>(), boxed());
    let mut state = image::read::<Checkpoint<Gpt, Moments<Gpt>>>(&path).unwrap();
    assert_eq!(state.optimizer.steps(), 10);
    let rest: Vec<f64> = (0..10).map(|_| step(&mut state, &mut gradient, &mut memory)).collect();
    assert_eq!(rest, losses[10..]);
    assert_eq!(bits(&*state), bits(&*through));

    // It is no model, and a truncated one is no checkpoint.
    assert!(image::read::<Gpt>(&path).is_err());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    assert!(image::read::<Checkpoint<Gpt, Moments<Gpt>>>(&path).is_err());
    std::fs::remove_file(path).unwrap();
}

/// The counter of steps goes beyond what an `f32` counts to.
#[test]
fn moments_count_as_far_as_an_integer() {
    let mut state = boxed::<Moments<Linear<1, 1>>>();
    let (mut model, gradient) = (boxed::<Linear<1, 1>>(), boxed::<Linear<1, 1>>());
    for n in 1..=70_000 {
        AdamW::default().step(&mut *model, &*gradient, &mut *state, 1e-3);
        assert_eq!(state.steps(), n);
    }
}

#[test]
fn adapters_change_nothing_at_first_and_can_be_merged() {
    let (model, mut adapted) = (random::<Gpt>(), boxed::<Gpt<Lora<3>>>());
    adapt(&*model, &mut *adapted, &mut rng()).unwrap();
    let (mut memory, mut of_adapted) = (boxed::<Memory<Gpt, 7>>(), boxed::<Memory<Gpt<Lora<3>>, 7>>());
    let [mut plain, mut with] = [[0.0; 11]; 2];
    model.forward(&[3, 1, 4], &mut memory, &mut plain).unwrap();
    adapted.forward(&[3, 1, 4], &mut of_adapted, &mut with).unwrap();
    assert_eq!(plain, with);

    let (mut gradient, mut memory) = (boxed(), boxed::<TrainingMemory<Gpt<Lora<3>>, 7>>());
    let mut losses = vec![];
    for _ in 0..30 {
        let loss = adapted.backward(&[3, 1, 4], &[1, 4, 1], Pass::new(1.0 / 3.0), &mut gradient, &mut memory).unwrap();
        Sgd { momentum: 0.0, weight_decay: 0.1 }.plain_step(&mut *adapted, &*gradient, 0.1);
        clear(&mut *gradient);
        losses.push(loss.mean());
    }
    assert!(losses[29] < 0.5 * losses[0], "{losses:?}");
    let of = |name: &str, all: Vec<(String, Vec<f32>)>| all.into_iter().find(|(other, _)| other == name).unwrap().1;
    let name = "decoder.blocks.1.feed_forward.inner.weight";
    assert_eq!(of(name, numbers(&*model)), of(name, numbers(&*adapted)), "what is frozen stays");
    assert!(of(&format!("{name}.up"), numbers(&*adapted)).iter().any(|x| *x != 0.0));

    let mut merged = boxed::<Gpt>();
    merge(&*adapted, &mut *merged).unwrap();
    let mut memory = boxed::<Memory<Gpt, 7>>();
    merged.forward(&[3, 1, 4], &mut memory, &mut plain).unwrap();
    adapted.forward(&[3, 1, 4], &mut of_adapted, &mut with).unwrap();
    assert!(plain.iter().zip(&with).all(|(a, b)| (a - b).abs() < 1e-4), "{plain:?} {with:?}");

    let mut other = boxed::<LanguageModel<TextEmbedding<11, 12, 7>, Decoder<Gpt2, 1, 12, 20, 3, Lora<3>>, 12, 11>>();
    let error = adapt(&*model, &mut *other, &mut rng()).unwrap_err();
    assert_eq!(error.to_string(), "tensor 18 is [12, 12] in the plain model, and [12] in the one with adapters");
}

#[test]
fn frozen_layers_stay() {
    type Model = LanguageModel<TextEmbedding<11, 12, 7>, Frozen<Decoder<Gpt2, 2, 12, 20, 3>>, 12, 11>;
    let (mut model, mut gradient, mut memory) =
        (random::<Model>(), boxed::<Gradient<Model>>(), boxed::<TrainingMemory<Model, 7>>());
    let before = numbers(&*model);
    model.backward(&[3, 1, 4], &[1, 4, 1], Pass::new(1.0), &mut gradient, &mut memory).unwrap();
    let (mut moments, mut velocity) = (boxed::<Moments<Gradient<Model>>>(), boxed::<Gradient<Model>>());
    AdamW::default().step(&mut *model, &*gradient, &mut *moments, 0.1);
    Sgd { momentum: 0.9, weight_decay: 0.1 }.step(&mut *model, &*gradient, &mut *velocity, 0.1);
    for ((name, before), (_, after)) in before.into_iter().zip(numbers(&*model)) {
        assert_eq!(before == after, name.starts_with("decoder."), "{name}");
    }
    // It loads what a model without frozen layers wrote.
    assert_eq!(Model::FINGERPRINT, <Gpt>::FINGERPRINT);
}

/// A head alone gets the gradient that it has in the whole model.
#[test]
fn head_only_is_the_head_of_a_classifier() {
    type Model = Classifier<PatchEmbedding<5, 12, 7>, Encoder<Vit, 2, 12, 20, 3>, 12, 4, FirstToken>;
    let (model, mut gradient) = (random::<Model>(), boxed::<Model>());
    let patches = [[0.3, -0.2, 0.9, 1.5, -1.0]; 6];
    let mut memory = boxed::<TrainingMemory<Model, 7>>();
    let whole = model.backward(&patches, 3, Pass::new(0.5), &mut gradient, &mut memory).unwrap();
    let mut head = boxed::<HeadOnly<12, 4>>();
    accumulate(&mut head.head, &model.head);
    let features = model.features(&patches, &mut boxed::<Memory<Model, 7>>()).unwrap();
    let alone = head.backward(&features, 3, Pass::new(0.5)).unwrap();
    assert!((whole.sum - alone.sum).abs() < 1e-6);
    for ((_, a), (_, b)) in numbers(&gradient.head).into_iter().zip(numbers(&head.gradient)) {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
    }
    let before = head.forward(&features)[3];
    head.step(0.1);
    assert!(head.forward(&features)[3] > before && norm(&head.gradient) == 0.0);
    assert!(head.backward(&features, 4, Pass::new(0.5)).is_err());
}

#[test]
fn a_vector_is_learnt_by_the_mean_squared_error() {
    let mut model = boxed::<Linear<3, 2>>();
    let (mut gradient, mut velocity) = (boxed::<HeadOnly<3, 2>>(), boxed::<Linear<3, 2>>());
    let mut losses = vec![];
    for _ in 0..50 {
        let mut y = model.apply(&[1.0, -1.0, 0.5]);
        losses.push(mean_squared_error(&mut y, &[3.0, -2.0], 1.0));
        clear(&mut gradient.gradient);
        gradient.gradient.bias = y;
        Sgd { momentum: 0.9, weight_decay: 0.0 }.step(&mut *model, &gradient.gradient, &mut *velocity, 0.05);
    }
    assert!(losses[49] < 1e-2 * losses[0], "{losses:?}");
}

#[test]
fn models_start_as_they_should() {
    type Model = LanguageModel<TextEmbedding<65, 64, 32>, Decoder<Gpt2, 4, 64, 256, 4>, 64, 65>;
    let deviation =
        |numbers: &[f32]| (numbers.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt();
    let of = |how: Initialization| {
        let mut model = boxed::<Model>();
        how.fill(&mut *model, &mut rng());
        let again = bits(&*model);
        how.fill(&mut *model, &mut rng());
        assert_eq!(again, bits(&*model), "a seed makes a model again");
        move |name: &str| {
            let name = format!("decoder.blocks.3.{name}");
            let all = numbers(&*model);
            all.iter().find(|(other, _)| *other == name).unwrap().1.clone()
        }
    };
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");

    let gpt2 = of(Initialization::ScaledNormal);
    close(deviation(&gpt2("attention.query.weight")), 0.02);
    close(deviation(&gpt2("feed_forward.inner.weight")), 0.02);
    close(deviation(&gpt2("feed_forward.outer.weight")), 0.02 / 8f64.sqrt());
    close(deviation(&gpt2("attention.output.weight")), 0.02 / 8f64.sqrt());
    assert!(gpt2("attention_norm.weight").iter().all(|x| *x == 1.0));
    assert!(gpt2("feed_forward.inner.bias").iter().all(|x| *x == 0.0));

    let xavier = of(Initialization::Xavier);
    close(deviation(&xavier("feed_forward.inner.weight")), (2.0f64 / (64.0 + 256.0)).sqrt());

    let torch = of(Initialization::PyTorch);
    close(deviation(&torch("feed_forward.inner.weight")), (1.0f64 / 64.0 / 3.0).sqrt());
    close(deviation(&torch("feed_forward.outer.weight")), (1.0f64 / 256.0 / 3.0).sqrt());
    close(deviation(&torch("attention.key.weight")), (6.0f64 / 256.0 / 3.0).sqrt());
    assert!(torch("attention.key.bias").iter().all(|x| *x == 0.0));
    let bias = torch("feed_forward.outer.bias");
    assert!(bias.iter().all(|x| x.abs() <= 1.0 / 16.0) && deviation(&bias) > 0.02);
}

/// Of 100,000 tokens a tenth of which is special: how many are chosen, masked, drawn and left, to four standard deviations.
#[test]
fn masks_stand_as_often_as_in_bert() {
    let masking = Masking::new(3, 10..90);
    let text: Vec<u32> = (0..100_000).map(|i| if i % 10 == 0 { i / 10 % 5 } else { 10 + i * 7 % 80 }).collect();
    let (mut ids, mut targets) = (text.clone(), vec![0; text.len()]);
    let count = masking.apply(&mut ids, &mut targets, &mut rng()).unwrap();
    let (mut masked, mut same, mut drawn) = (0, 0, [0; 90]);
    for ((text, id), target) in text.iter().zip(&ids).zip(&targets) {
        match *target {
            IGNORE => assert_eq!(text, id),
            _ if *text < 10 => panic!("{text} is special"),
            target => {
                assert_eq!(target, *text);
                match *id {
                    3 => masked += 1,
                    id if id == *text => same += 1,
                    id => drawn[id as usize] += 1,
                }
            }
        }
    }
    let random: usize = drawn.iter().sum();
    let near = |found: usize, n: f64, p: f64| {
        let (mean, deviation) = (n * p, (n * p * (1.0 - p)).sqrt());
        assert!((found as f64 - mean).abs() < 4.0 * deviation, "{found} of {n}, expected {mean}");
    };
    assert_eq!(count, masked + same + random);
    near(count, 90_000.0, 0.15);
    near(masked, count as f64, 0.8);
    near(random, count as f64, 0.1 * 79.0 / 80.0);
    near(same, count as f64, 0.1 + 0.1 / 80.0);
    assert!(drawn[..10].iter().all(|n| *n == 0) && drawn[10..].iter().all(|n| (1..60).contains(n)), "{drawn:?}");
}

#[test]
fn masking_leaves_what_it_is_not_to_touch() {
    let (mut ids, mut targets) = ([5, 6, 7], [1, 2, 3]);
    let none = Masking { rate: 0.0, ..Masking::new(3, 0..90) };
    assert_eq!(none.apply(&mut ids, &mut targets, &mut rng()), Ok(0));
    assert_eq!((ids, targets), ([5, 6, 7], [IGNORE; 3]));

    let all = Masking { rate: 1.0, ..Masking::new(3, 5..7) };
    let found = all.apply(&mut ids, &mut targets[..2], &mut rng());
    assert_eq!(found, Err(WrongTargets { inputs: 3, targets: 2 }));
    assert_eq!((ids, targets), ([5, 6, 7], [IGNORE; 3]));
    assert_eq!(all.apply(&mut ids, &mut targets, &mut rng()), Ok(2));
    assert_eq!((ids[2], targets), (7, [5, 6, IGNORE]));
    assert_eq!(all.apply(&mut [], &mut [], &mut rng()), Ok(0));
}

/// A masked language model learns texts that count upwards: what is hidden can be told from its neighbours. Guessing costs ln 18 = 2.89.
#[test]
fn a_masked_language_model_learns_what_is_hidden() {
    type Model = MaskedLanguageModel<BertEmbedding<20, 16, 8>, Encoder<Bert, 1, 16, 32, 4>, 16, 20>;
    let mut model = boxed::<Model>();
    Initialization::PyTorch.fill(&mut *model, &mut rng());
    let mut memory = boxed::<TrainingMemory<Model, 8>>();
    let (mut gradient, mut moments) = (boxed::<Gradient<Model>>(), boxed::<Moments<Gradient<Model>>>());
    let (masking, mut rng) = (Masking { rate: 0.25, ..Masking::new(1, 2..20) }, rng());
    let mut recent = Loss::default();
    for step in 0..1500 {
        let mut batch = [([0u32; 8], [0u32; 8]); 8];
        let mut count = 0;
        for (ids, targets) in &mut batch {
            let first = (rng.next_u64() % 18) as u32;
            *ids = core::array::from_fn(|i| 2 + (first + i as u32) % 18);
            count += masking.apply(ids, targets, &mut rng).unwrap();
        }
        let mut loss = Loss::default();
        for (ids, targets) in &batch {
            loss += model.backward(ids, targets, Pass::new(1.0 / count as f32), &mut gradient, &mut memory).unwrap();
        }
        clip_norm(&mut *gradient, 1.0);
        AdamW::default().step(&mut *model, &*gradient, &mut *moments, 5e-3);
        clear(&mut *gradient);
        if step >= 1400 {
            recent += loss;
        }
    }
    assert!(recent.mean() < 0.8, "{}", recent.mean());
}
