//! The host's path for hours: random lengths, formats, threads, images whole and damaged. Nothing leaks, no thread stays, and results stay what
//! they are.
//!
//! `cargo test --release --test soak -- --ignored`: an hour, or the seconds of `CONSTFORMER_SOAK_SECONDS`.

mod common;

use common::random::Random;
use constformer::{
    Classifier, Encoder, FirstToken, Int4, Int8, Memory, ParallelLayer, ParallelScratch, Parameters, PatchEmbedding,
    Scratch, Sequence, Vit, boxed, forward_batch_parallel, image, quantize,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::{
    alloc::System,
    fs,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Blocks<T = f32> = Encoder<Vit, 2, 21, 35, 3, T>;
type Digits<T = f32> = Classifier<PatchEmbedding<5, 21, 40, T>, Blocks<T>, 21, 7, FirstToken, T>;

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (self.number().to_bits() as usize >> 3) % n
    }
}

/// Of this process: threads, and kilobytes in memory; `None` where there is no /proc.
fn status() -> Option<[u64; 2]> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok();
    Some([value("Threads:")?, value("VmRSS:")?])
}

/// An image written, read, and damaged in one bit: that is refused, or is the model with other weights, which the checksum does not let pass.
fn images<M: Parameters>(model: &M, random: &mut Random, file: &std::path::Path) {
    image::write(file, model).unwrap();
    let read = image::read::<M>(file).unwrap();
    let mut differs = 0;
    let numbers = |model: &M| {
        let mut all = vec![];
        model.for_each_tensor(|_, tensor| all.extend(tensor.row_major().map(f32::to_bits)));
        all
    };
    numbers(model).iter().zip(numbers(&read)).for_each(|(a, b)| differs += u32::from(*a != b));
    assert_eq!(differs, 0);
    let mut bytes = fs::read(file).unwrap();
    let at = random.below(bytes.len());
    bytes[at] ^= 1 << random.below(8);
    fs::write(file, &bytes).unwrap();
    assert!(image::read::<M>(file).is_err(), "bit of byte {at}");
    bytes[at] = 0;
    bytes.truncate(at);
    fs::write(file, bytes).unwrap();
    assert!(image::read::<M>(file).is_err(), "{at} bytes");
}

/// One round of everything; returns a sum of outputs, which is a function of the seed.
fn round(seed: u64, pool: &rayon::ThreadPool, file: &std::path::Path) -> f64 {
    let random = &mut Random(seed);
    let mut sum = 0.0;
    let mut model = boxed::<Digits>();
    random.fill(&mut *model);
    let (small, smaller) = (quantize::<Digits<Int8>>(&*model), quantize::<Digits<Int4>>(&*model));
    for _ in 0..20 {
        let [count, len, batch] = [39, 61, 5].map(|n| random.below(n));
        let inputs = random.tokens::<5>(1 + count);
        let mut add = |logits: [f32; 7]| sum += logits.iter().map(|x| f64::from(*x)).sum::<f64>();
        add(model.forward(&inputs, &mut *boxed::<Memory<Digits, 40>>()).unwrap());
        add(small.forward(&inputs, &mut *boxed::<Memory<Digits<Int8>, 40, 4>>()).unwrap());
        add(smaller.forward(&inputs, &mut *boxed::<Memory<Digits<Int4>, 40, 1>>()).unwrap());

        let mut x = boxed::<Sequence<21, 60>>();
        x.assign(&random.tokens(len)).unwrap();
        let mut alone = boxed::<Sequence<21, 60>>();
        alone.assign(x.tokens()).unwrap();
        model.encoder.forward_parallel(&mut x, &mut boxed::<ParallelScratch<21, 35, 60, 4, 8>>());
        let mut y = vec![(*alone).clone(); batch];
        pool.install(|| {
            model.encoder.forward_parallel(&mut alone, &mut boxed::<ParallelScratch<21, 35, 60, 4, 8>>());
            forward_batch_parallel(&model.encoder, &mut y, &mut boxed::<[Scratch<21, 35, 60, 8>; 4]>());
        });
        assert!(*x == *alone && y.iter().all(|y| *y == *x), "as many threads as there are, the same bits");
        sum += x.tokens().as_flattened().iter().map(|x| f64::from(*x)).sum::<f64>();
    }
    images(&*model, random, file);
    images(&*small, random, file);
    images(&*smaller, random, file);
    sum
}

#[test]
#[ignore = "an hour, or the seconds of CONSTFORMER_SOAK_SECONDS"]
fn nothing_leaks_and_nothing_changes() {
    let seconds = std::env::var("CONSTFORMER_SOAK_SECONDS").map_or(3600, |text| text.parse().expect("seconds"));
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak.cfm");
    let pools = [1, 2, 3, 4].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let expected = round(0, &pools[2], &file);
    for seed in 1..40 {
        round(seed, &pools[seed as usize % 4], &file); // what is allocated once, is
    }
    let (before, begin, mut rounds) = (status(), Instant::now(), 0);
    let mut kept = 0;
    while begin.elapsed() < Duration::from_secs(seconds) {
        let region = Region::new(ALLOCATOR);
        let seed = rounds * 2;
        assert_eq!(round(0, &pools[rounds as usize % 4], &file).to_bits(), expected.to_bits(), "round {rounds}");
        assert!(round(seed, &pools[rounds as usize / 4 % 4], &file).is_finite());
        let change = region.change();
        kept += change.bytes_allocated.cast_signed() - change.bytes_deallocated.cast_signed();
        rounds += 1;
    }
    println!("{rounds} rounds, {kept} bytes kept, {before:?} before, {:?} after", status());
    // What rayon's queues hold, for 63 jobs at a time.
    assert!(kept.abs() < 20_000, "{kept} bytes of {rounds} rounds were not freed");
    if let (Some([threads, memory]), Some([threads_after, memory_after])) = (before, status()) {
        assert!(threads_after == threads, "{threads} threads before, {threads_after} after");
        assert!(memory_after < memory + 4_000, "{memory} kB before, {memory_after} kB after");
    }
    assert!(rounds > 0);
}
