//! `cargo bench --bench parallel [-- THREADS]`: MiniLM's encoder on one thread and on several, in turns.
//!
//! Times are of the clock on the wall, medians, so another process disturbs them: a core that is busy is half a core.

use constformer::{
    Bert, Encoder, Layer, ParallelLayer, ParallelScratch, Parameters, Scratch, Sequence, Shape, boxed,
    forward_batch_parallel,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// How long a workload is measured.
const BUDGET: Duration = Duration::from_secs(10);
const MOST_THREADS: usize = 64;

type MiniLm = Encoder<Bert, 6, 384, 1536, 12>;

fn main() {
    let wanted = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let threads =
        wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).min(MOST_THREADS);
    let mut random = Random(1);
    let mut model = boxed::<MiniLm>();
    model.for_each_tensor_mut(|name, mut tensor| {
        let (mean, spread) = match tensor.shape() {
            Shape::Matrix([_, inputs]) => (0.0, 1.0 / (inputs as f32).sqrt()),
            Shape::Vector(_) => (if name.to_string().ends_with("norm.weight") { 1.0 } else { 0.0 }, 0.1),
        };
        tensor.stored_mut().fill_with(|| mean + spread * random.next());
    });

    println!("W3, milliseconds       forward   a pool of 1   a pool of {threads}   overhead   speed-up");
    let mut tokens = || std::array::from_fn(|_| random.next());
    let input: Vec<[f32; 384]> = (0..256).map(|_| tokens()).collect();
    let mut x = boxed::<Sequence<384, 256>>();
    let mut scratch = boxed::<Scratch<384, 1536, 256>>();
    let mut of_threads = boxed::<ParallelScratch<384, 1536, 256, MOST_THREADS>>();
    compare("1 x 256 tokens", threads, |parallel| {
        let _ = x.assign(&input);
        if parallel {
            black_box(&model).forward_parallel(&mut x, &mut of_threads);
        } else {
            black_box(&model).forward(&mut x, &mut scratch);
        }
        black_box(&mut *x);
    });

    let mut batch = vec![Sequence::<384, 64>::new(); 8];
    let mut scratch = boxed::<Scratch<384, 1536, 64>>();
    let mut scratches = boxed::<[Scratch<384, 1536, 64>; MOST_THREADS]>();
    compare("8 x 64 tokens", threads, |parallel| {
        for (x, tokens) in batch.iter_mut().zip(input.chunks(64).cycle()) {
            let _ = x.assign(tokens);
        }
        if parallel {
            forward_batch_parallel(&**black_box(&model), &mut batch, &mut scratches);
        } else {
            black_box(&model).forward_batch(&mut batch, &mut scratch);
        }
        black_box(&mut batch);
    });
}

/// Measures and prints a line. `forward` is told whether in parallel.
fn compare(name: &str, threads: usize, mut forward: impl FnMut(bool) + Send) {
    let [one, many] =
        [1, threads].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool"));
    let mut samples: Vec<[f64; 3]> = vec![];
    let start = Instant::now();
    while samples.len() < 5 || start.elapsed() < BUDGET {
        samples.push([time(&one, || forward(false)), time(&one, || forward(true)), time(&many, || forward(true))]);
    }
    let median = |value: &dyn Fn(&[f64; 3]) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [forward, alone, together] = [0, 1, 2].map(|i| median(&|sample| sample[i]));
    let (overhead, speed_up) = (median(&|sample| sample[1] / sample[0]), median(&|sample| sample[0] / sample[2]));
    println!("{name:16} {forward:13.2} {alone:13.2} {together:13.2} {overhead:10.2} {speed_up:10.2}");
}

/// Milliseconds of a pass in the pool, after one that is not counted.
fn time(pool: &ThreadPool, mut forward: impl FnMut() + Send) -> f64 {
    pool.install(|| {
        forward();
        let start = Instant::now();
        forward();
        start.elapsed().as_secs_f64() * 1e3
    })
}

/// Numbers of mean 0 and variance 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12_f32.sqrt()
    }
}
