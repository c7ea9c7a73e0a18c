//! KWT-1, a real keyword spotter, against TensorFlow Lite and an `f64` reference. Its files are no part of the repository:
//! `CONSTFORMER_MODELS` says where they are.

mod common;

use common::golden::Golden;
use constformer::{
    Boxed, Classifier, Embedding, Encoder, FirstToken, Int8, Int8Cache, Int8Stream, Kwt, Layer, Memory, Parameters,
    PatchEmbedding, Plan, Working, boxed, image, quantize,
};

type Kws<T = f32> = Classifier<PatchEmbedding<40, 64, 99, T>, Encoder<Kwt, 12, 64, 256, 1, T>, 64, 12, FirstToken, T>;

/// The model from the checkpoint, none of whose tensors is left over.
fn kws() -> Option<Boxed<Kws>> {
    const NAMES: [(&str, &str); 14] = [
        ("blocks.", "encoder.blocks."),
        (".q.", ".attention.query."),
        (".k.", ".attention.key."),
        (".v.", ".attention.value."),
        (".o.", ".attention.output."),
        (".fc1.", ".feed_forward.inner."),
        (".fc2.", ".feed_forward.outer."),
        (".ln1.", ".attention_norm."),
        (".ln2.", ".feed_forward_norm."),
        (".gamma", ".weight"),
        (".beta", ".bias"),
        ("patch_proj.", "embedding.projection."),
        ("cls", "embedding.class_token"),
        ("pos_emb", "embedding.positions.weight"),
    ];
    let mut checkpoint = Golden::model("kwt1/kwt1.safetensors")?;
    checkpoint.tensors = std::mem::take(&mut checkpoint.tensors)
        .into_iter()
        .map(|(name, values)| (NAMES.iter().fold(name, |name, (theirs, ours)| name.replace(theirs, ours)), values))
        .collect();
    let mut kws = boxed::<Kws>();
    checkpoint.load(&mut *kws).unwrap();
    Some(kws)
}

fn distance<'a>(a: impl IntoIterator<Item = &'a f32>, b: impl IntoIterator<Item = &'a f32>) -> f32 {
    let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
    assert_eq!(a.len(), b.len());
    a.into_iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn every_block_and_the_logits() {
    let Some(kws) = kws() else { return };
    let mut golden = Golden::model("kwt1/kwt1_golden.safetensors").unwrap();
    assert_eq!((Plan::<Kws, 99>::PARAMETERS, Plan::<Kws, 99>::FLASH), (607_308, 4 * 607_308));

    let blocks = golden.take("yes.block_outputs").rows::<64>();
    let mut expected = blocks.chunks_exact(99);
    let mut memory = boxed::<Memory<Kws, 99>>();
    let Working { stream, scratch } = &mut *memory;
    kws.embedding.forward(&golden.tensors["yes.mfcc"].rows(), stream).unwrap();
    let mut error = distance(stream.tokens().as_flattened(), expected.next().unwrap().as_flattened());
    for block in &kws.encoder.blocks {
        block.forward(stream, scratch);
        error = error.max(distance(stream.tokens().as_flattened(), expected.next().unwrap().as_flattened()));
    }
    println!("input and output of 12 blocks within {error:.1e}");
    assert!(error < 1e-4 && expected.next().is_none());

    for clip in ["yes", "no", "noise", "silence"] {
        let logits = kws.forward(&golden.take(&format!("{clip}.mfcc")).rows(), &mut memory).unwrap();
        let error = distance(&logits, &golden.take(&format!("{clip}.logits_f64ref")).to_f32());
        println!("logits of {clip} within {error:.1e}");
        assert!(error < 1e-4);
    }
}

fn argmax(logits: &[f32; 12]) -> Option<usize> {
    (0..12).max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
}

#[test]
fn in_integers_it_hears_what_it_heard() {
    let Some(kws) = kws() else { return };
    let small: Boxed<Kws<Int8>> = quantize(&*kws);
    let mut clips = Golden::model("kwt1/kwt1_mfcc_220clips.safetensors").unwrap();
    let frames = clips.take("mfcc").rows::<40>();
    let labels = clips.take("label").numbers;
    let mut memory = boxed::<Memory<Kws, 99>>();
    let (mut agree, mut right, mut error) = (0, 0, 0f32);
    for (frames, label) in frames.chunks_exact(98).zip(&labels) {
        let expected = kws.forward(frames, &mut memory).unwrap();
        let found = small.forward(frames, &mut memory).unwrap();
        error = error.max(distance(&found, &expected));
        agree += usize::from(argmax(&found) == argmax(&expected));
        right += usize::from(argmax(&found) == Some(*label as usize));
    }
    let flash = [Plan::<Kws, 99>::FLASH, Plan::<Kws<Int8>, 99>::FLASH];
    println!("Int8: {agree} of 220 as in f32, {right} right, logits within {error:.1e}, {flash:?} bytes of flash");
    assert!(labels.len() == 220 && agree >= 219);
}

/// On a microcontroller, all in 8 bits: weights, keys, values and the tokens between layers.
#[test]
fn in_28_kb_it_hears_what_it_heard() {
    type Small = Int8Stream<Int8Cache<Int8>>;
    const { assert!(Plan::<Kws<Small>, 99, 4>::RAM <= 28_000) };
    let Some(kws) = kws() else { return };
    let small: Boxed<Kws<Small>> = quantize(&*kws);
    let mut clips = Golden::model("kwt1/kwt1_mfcc_220clips.safetensors").unwrap();
    let frames = clips.take("mfcc").rows::<40>();
    let labels = clips.take("label").numbers;
    let (mut memory, mut of_small) = (boxed::<Memory<Kws, 99>>(), boxed::<Memory<Kws<Small>, 99, 4>>());
    let (mut agree, mut right, mut error) = (0, 0, 0f32);
    for (frames, label) in frames.chunks_exact(98).zip(&labels) {
        let expected = kws.forward(frames, &mut memory).unwrap();
        let found = small.forward(frames, &mut of_small).unwrap();
        error = error.max(distance(&found, &expected));
        agree += usize::from(argmax(&found) == argmax(&expected));
        right += usize::from(argmax(&found) == Some(*label as usize));
    }
    let ram = Plan::<Kws<Small>, 99, 4>::RAM;
    println!("all in 8 bits: {agree} of 220 as in f32, {right} right, logits within {error:.1e}, {ram} bytes of RAM");
    assert!(labels.len() == 220 && agree >= 219);
}

#[test]
fn the_reference_s_answer_to_every_clip_also_from_the_image() {
    let Some(kws) = kws() else { return };
    let mut clips = Golden::model("kwt1/kwt1_mfcc_220clips.safetensors").unwrap();
    let (frames, logits) = (clips.take("mfcc").rows::<40>(), clips.take("logits_tflite").rows::<12>());
    let labels = clips.take("label").numbers;

    let path = std::env::temp_dir().join(format!("constformer-kwt-{}.cfm", std::process::id()));
    image::write(&path, &*kws).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    // At an address that is a multiple of 4, as flash has it.
    let mut room = vec![0u32; bytes.len() / 4 + 1];
    let room = constformer::zerocopy::IntoBytes::as_mut_bytes(&mut room[..]);
    room[..bytes.len()].copy_from_slice(&bytes);
    let in_place = image::from_bytes::<Kws>(&room[..bytes.len()]).unwrap();
    let copied = image::read::<Kws>(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let mut memory = boxed::<Memory<Kws, 99>>();
    let (mut agree, mut right) = (0, 0);
    for ((frames, expected), label) in frames.chunks_exact(98).zip(&logits).zip(&labels) {
        let found = kws.forward(frames, &mut memory).unwrap();
        assert_eq!(found, in_place.forward(frames, &mut memory).unwrap());
        assert_eq!(found, copied.forward(frames, &mut memory).unwrap());
        agree += usize::from(argmax(&found) == argmax(expected));
        right += usize::from(argmax(&found) == Some(*label as usize));
    }
    println!("{agree} of {} clips as the reference, {right} right", labels.len());
    assert_eq!(agree, 220);

    let mut same = vec![];
    kws.for_each_tensor(|name, tensor| same.push((name.to_string(), tensor.stored().to_vec())));
    let mut same = same.into_iter();
    copied.for_each_tensor(|name, tensor| assert!(same.next() == Some((name.to_string(), tensor.stored().to_vec()))));
}
