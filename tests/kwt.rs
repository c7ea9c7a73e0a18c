//! KWT-1, a real keyword spotter, against TensorFlow Lite and an `f64` reference. Its files are no part of the repository:
//! `CONSTFORMER_MODELS` says where they are.

mod common;

use common::golden::Golden;
use constformer::{
    Boxed, Classifier, Embedding, Encoder, FirstToken, Format, Int4, Int8, Int8Cache, Int8Stream, IntegerOnly, Kwt,
    Layer, Memory, Parameters, PatchEmbedding, Plan, Working, boxed, image, quantize,
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

/// The model in another format on all clips: how many answers are those in `f32`.
fn agreement<T: Format, const TILE: usize>(name: &str) -> Option<usize> {
    let kws = kws()?;
    let small: Boxed<Kws<T>> = quantize(&*kws);
    let mut clips = Golden::model("kwt1/kwt1_mfcc_220clips.safetensors").unwrap();
    let frames = clips.take("mfcc").rows::<40>();
    let labels = clips.take("label").numbers;
    let (mut memory, mut of_small) = (boxed::<Memory<Kws, 99>>(), boxed::<Memory<Kws<T>, 99, TILE>>());
    let (mut agree, mut right, mut both, mut error) = (0, 0, 0, 0f32);
    for (frames, label) in frames.chunks_exact(98).zip(&labels) {
        let expected = kws.forward(frames, &mut memory).unwrap();
        let found = small.forward(frames, &mut of_small).unwrap();
        error = error.max(distance(&found, &expected));
        agree += usize::from(argmax(&found) == argmax(&expected));
        right += usize::from(argmax(&found) == Some(*label as usize));
        both += usize::from(argmax(&expected) == Some(*label as usize));
    }
    let (flash, ram) = (Plan::<Kws<T>, 99, TILE>::FLASH, Plan::<Kws<T>, 99, TILE>::RAM);
    println!(
        "{name}: {agree} of 220 as in f32, {right} right ({both} in f32), logits within {error:.1e}, {flash} bytes of flash, {ram} of RAM"
    );
    assert!(labels.len() == 220);
    Some(agree)
}

/// On a microcontroller, all in 8 bits: weights, keys, values and the tokens between layers.
type Small<T> = Int8Stream<Int8Cache<T>>;

#[test]
fn in_integers_it_hears_what_it_heard() {
    const { assert!(Plan::<Kws<Small<Int8>>, 99, 4>::RAM <= 28_000) };
    assert!(agreement::<Int8, 64>("Int8").is_none_or(|agree| agree >= 219));
    assert!(agreement::<Small<Int8>, 4>("all in 8 bits").is_none_or(|agree| agree >= 219));
}

#[test]
fn in_4_bits_it_hears_what_it_heard() {
    const { assert!(Plan::<Kws<Int4>, 99, 4>::FLASH < 400_000) };
    assert!(agreement::<Int4, 64>("Int4").is_none_or(|agree| agree >= 215));
    assert!(agreement::<Small<Int4>, 4>("Int4, the rest in 8 bits").is_none_or(|agree| agree >= 215));
}

#[test]
fn without_a_floating_point_number_it_hears_what_it_heard() {
    assert!(agreement::<IntegerOnly<Int8>, 4>("integers alone").is_none_or(|agree| agree >= 217));
    assert!(agreement::<Int8Stream<IntegerOnly<Int8>>, 4>("integers of 8 bits").is_none_or(|agree| agree >= 217));
    assert!(agreement::<Int8Stream<IntegerOnly<Int4>>, 4>("integers of 4 bits").is_none_or(|agree| agree >= 215));
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
