//! The encoder-decoder of Vaswani et al. against PyTorch, and what its memory does.

mod common;

use common::golden::Golden;
use constformer::{load::*, *};

type Small = Transformer<Vaswani, 2, 22, 35, 2, 29, 17>;

/// The model of the golden file, and its cases: source, target, logits.
fn golden() -> (Boxed<Small>, Vec<(Vec<u32>, Vec<u32>, Vec<f64>)>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/vaswani.safetensors");
    let weights = Checkpoint::open(path).unwrap().without("source.").without("target.").without("logits.");
    let mut model = boxed::<Small>();
    weights.load::<TorchTransformer>(&mut *model).unwrap();
    let mut file = Golden::open("vaswani.safetensors");
    let mut ids = |name: String| file.take(&name).numbers.iter().map(|id| *id as u32).collect::<Vec<_>>();
    let texts: Vec<_> = (0..6).map(|k| (ids(format!("source.{k}")), ids(format!("target.{k}")))).collect();
    let cases = texts.into_iter().enumerate();
    let cases =
        cases.map(|(k, (source, target))| (source, target, file.take(&format!("logits.{k}")).numbers)).collect();
    (model, cases)
}

/// The logits after every token of the target, by steps of `step` tokens.
fn logits<const TILE: usize>(model: &Small, source: &[u32], target: &[u32]) -> Vec<f32> {
    let mut memory = boxed::<TransformerMemory<2, 22, 35, 17, 17, TILE>>();
    model.encode(source, &mut memory).unwrap();
    let mut all = vec![];
    for id in target {
        let mut logits = [0.0; 29];
        model.extend(&[*id], &mut memory, &mut logits).unwrap();
        all.extend(logits);
    }
    // At once, and in parts.
    for step in [target.len(), 3] {
        memory.cache.reset();
        let mut logits = [0.0; 29];
        for part in target.chunks(step) {
            model.extend(part, &mut memory, &mut logits).unwrap();
        }
        assert!(all.ends_with(&logits), "bit for bit");
    }
    all
}

#[test]
fn logits_are_pytorch_s() {
    let (model, cases) = golden();
    let mut worst = 0.0;
    for (source, target, expected) in &cases {
        let found = logits::<4>(&model, source, target);
        assert_eq!(found, logits::<48>(&model, source, target));
        assert_eq!(found, logits::<1>(&model, source, target));
        worst = common::larger(worst, common::max_error(&found, expected.iter().copied()));
    }
    println!("logits within {worst:.1e}");
    assert!(worst < 2e-5);
}

#[test]
fn errors_change_nothing() {
    let (model, _) = golden();
    let mut memory = boxed::<TransformerMemory<2, 22, 35, 5, 20, 3>>();
    let mut logits = [7.0; 29];
    model.encode(&[3, 1, 4, 1, 5], &mut memory).unwrap();
    model.extend(&[2, 7], &mut memory, &mut logits).unwrap();
    let mut again = [0.0; 29];

    let unknown = UnknownToken { id: 29, vocabulary: 29 }.into();
    let kept = logits;
    assert_eq!(model.extend(&[], &mut memory, &mut logits), Err(Empty.into()));
    assert_eq!(model.extend(&[1, 1, 1, 1, 29], &mut memory, &mut logits), Err(unknown), "in the second tile");
    let too_long = |capacity, found| Err(TooLong { capacity, found }.into());
    assert_eq!(model.extend(&[1; 19], &mut memory, &mut logits), too_long(20, 21));
    let no_position = NoPosition { position: 17, positions: 17 };
    assert_eq!(model.extend(&[1; 16], &mut memory, &mut logits), Err(no_position.into()));
    assert_eq!(no_position.to_string(), "a token at position 17, where there are 17 positions, the first being 0");
    assert_eq!(model.encode(&[], &mut memory), Err(Empty.into()));
    assert_eq!(model.encode(&[1; 6], &mut memory), too_long(5, 6));
    assert_eq!(model.encode(&[1, 29], &mut memory), Err(unknown));
    assert_eq!((memory.cache.len(), logits), (2, kept));
    memory.cache.rewind(1).unwrap();
    model.extend(&[7], &mut memory, &mut again).unwrap();
    assert_eq!(again, kept, "it remembers the same source and target");
    model.extend(&[1; 15], &mut memory, &mut again).unwrap();
    assert_eq!(memory.cache.len(), 17);
}

#[test]
fn what_its_type_says() {
    type Base = Transformer<Vaswani, 6, 512, 2048, 8, 37_000, 256>;
    let encoder = 4 * (512 * 512 + 512) + 2 * 512 * 2048 + 2048 + 512 + 2 * 1024;
    let decoder = encoder + 4 * (512 * 512 + 512) + 1024;
    assert_eq!(Base::COUNT, 37_000 * 512 + 6 * (encoder + decoder));
    let h = Base::HYPERPARAMETERS;
    assert_eq!((h.layers, h.vocabulary, h.tied, h.norm_first), (Some(6), Some(37_000), Some(true), Some(false)));
    assert_eq!(<CrossDecoder<Vaswani, 6, 512, 2048, 8>>::HYPERPARAMETERS.causal, Some(true));

    // Of n tokens on both sides: projections, feed-forward, head; pairs of all with all, and causal ones.
    let n = 10;
    let token = 6 * (12 * 512 * 512 + 4 * 512 * 2048) + 512 * 37_000;
    let pairs = 6 * 2 * 512 * (2 * n * n + n * (n + 1) / 2);
    assert_eq!(Plan::<Base, 10>::MACS, (n * token + pairs) as u64);
}
