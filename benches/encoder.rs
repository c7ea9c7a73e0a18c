//! `taskset -c 1 cargo bench --bench encoder [-- W1 ...]`: forward passes, one sequence at a time, against the same encoder
//! written with `nalgebra`, in turns.
//!
//! Times are of the process on the processor, medians; so another process disturbs them little, and the ratio less.

mod nalgebra_encoder;

use constformer::{
    Bert, Encoder, Family, KnownWidth, Layer, Memory, Parameters, Placement, Plan, Shape, SplitInto, Vaswani, Vit,
    Width, Working, boxed,
};
use cpu_time::ProcessTime;
use nalgebra::{Const, DefaultAllocator, Dim, Dyn, OMatrix};
use nalgebra_encoder::{Kind, Room};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::{alloc::System, hint::black_box, time::Duration};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How long a workload is measured.
const BUDGET: Duration = Duration::from_secs(4);
/// How long a sample is at least.
const SAMPLE: Duration = Duration::from_millis(1);

fn main() {
    println!("                  constformer                                         nalgebra");
    println!("workload                ms   GFLOP/s  allocations  working bytes            ms    ratio  difference");
    // LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN
    dynamic::<Bert, 12, 64, 256, 1, 99>("W1", 1e-12, gelu); //  the shape of KWT-1
    dynamic::<Vit, 2, 32, 64, 4, 16>("W2", 1e-6, gelu); // tiny
    let shape = (Const::<32>, Const::<64>, Const::<8>, Const::<16>);
    workload::<Vit, _, _, _, _, 2, 32, 64, 4, 16>("W2 static", shape, 1e-6, gelu); // the same, against nalgebra's static product
    dynamic::<Bert, 6, 384, 1536, 12, 16>("W3 seq 16", 1e-12, gelu); // MiniLM
    dynamic::<Bert, 6, 384, 1536, 12, 128>("W3 seq 128", 1e-12, gelu);
    dynamic::<Bert, 6, 384, 1536, 12, 256>("W3 seq 256", 1e-12, gelu);
    dynamic::<Vaswani, 1, 512, 2048, 8, 128>("W4", 1e-6, |x| x.max(0.0)); // the block of "Attention Is All You Need"
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Against nalgebra's matrices of dynamic size.
fn dynamic<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
>(
    name: &str,
    epsilon: f32,
    activation: impl Fn(f32) -> f32,
) where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let shape = (Dyn(D_MODEL), Dyn(D_FF), Dyn(D_MODEL / HEADS), Dyn(SEQ_LEN));
    workload::<F, _, _, _, _, LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN>(name, shape, epsilon, activation);
}

/// Measures and prints a line, unless the arguments name other workloads.
fn workload<
    F: Family,
    D: Dim,
    I: Dim,
    H: Dim,
    N: Dim,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
>(
    name: &str,
    shape: (D, I, H, N),
    epsilon: f32,
    activation: impl Fn(f32) -> f32,
) where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
    DefaultAllocator: Room<D, I, N>,
{
    let mut wanted = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    if wanted.peek().is_some() && !wanted.any(|wanted| name.starts_with(&wanted)) {
        return;
    }
    let mut random = Random(1);
    let mut model = boxed::<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>>();
    model.for_each_tensor_mut(|name, mut tensor| {
        let (mean, spread) = match tensor.shape() {
            Shape::Matrix([_, inputs]) => (0.0, 1.0 / (inputs as f32).sqrt()),
            Shape::Vector(_) => (if name.to_string().ends_with("norm.weight") { 1.0 } else { 0.0 }, 0.1),
        };
        tensor.stored_mut().fill_with(|| mean + spread * random.next());
    });
    let input: Vec<[f32; D_MODEL]> = (0..SEQ_LEN).map(|_| std::array::from_fn(|_| random.next())).collect();

    let mut memory = boxed::<Memory<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>, SEQ_LEN>>();
    let Working { stream, scratch } = &mut *memory;
    let mut ours = || {
        stream.assign(&input).expect("as many tokens as there is room for");
        black_box(&model).forward(stream, scratch);
        black_box(&mut *stream);
    };

    let input = OMatrix::from_fn_generic(shape.0, shape.3, |row, token| input[token][row]);
    let kind = Kind { norm_first: F::Placement::NORM_FIRST, epsilon, activation };
    let mut tensors: Vec<Vec<f32>> = vec![];
    model.for_each_tensor(|_, tensor| tensors.push(tensor.row_major().collect()));
    let mut theirs = nalgebra_encoder::Encoder::load(&mut tensors.into_iter(), LAYERS, shape, kind);
    let mut output = input.clone();
    let mut theirs = || {
        output.copy_from(&input);
        black_box(&mut theirs).forward(&mut output);
        black_box(&mut output);
    };

    ours();
    let region = Region::new(ALLOCATOR);
    ours();
    let allocations = region.change().allocations;
    let ([ms, their_ms], ratio) = compare(&mut ours, &mut theirs);
    let difference = stream.matrix().iter().zip(output.iter()).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert!(difference < 1e-3, "{name}: the outputs differ by {difference}");

    let bytes = Plan::<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>, SEQ_LEN>::RAM;
    let gflops = 2e-6 * Plan::<Encoder<F, LAYERS, D_MODEL, D_FF, HEADS>, SEQ_LEN>::MACS as f64 / ms;
    println!(
        "{name:12} {ms:13.4} {gflops:9.1} {allocations:12} {bytes:14} {their_ms:13.4} {ratio:8.2} {difference:11.1e}"
    );
}

/// The median milliseconds of both, and the median of their ratio, second to first.
fn compare(first: &mut dyn FnMut(), second: &mut dyn FnMut()) -> ([f64; 2], f64) {
    #[expect(clippy::cast_sign_loss, reason = "times are positive")]
    let repeats = |forward: &mut dyn FnMut()| (SAMPLE.as_secs_f64() * 1e3 / time(forward, 1)).ceil() as u32;
    let repeats = [repeats(first), repeats(second)];
    let start = ProcessTime::now();
    let mut samples = vec![];
    while samples.len() < 5 || start.elapsed() < BUDGET {
        samples.push([time(first, repeats[0]), time(second, repeats[1])]);
    }
    let median = |value: &dyn Fn(&[f64; 2]) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    ([median(&|[first, _]| *first), median(&|[_, second]| *second)], median(&|[first, second]| second / first))
}

/// Milliseconds of a forward pass, the mean of so many after one that is not counted.
fn time(forward: &mut dyn FnMut(), repeats: u32) -> f64 {
    forward();
    let start = ProcessTime::now();
    for _ in 0..repeats {
        forward();
    }
    start.elapsed().as_secs_f64() * 1e3 / f64::from(repeats)
}

/// Numbers of mean 0 and variance 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12_f32.sqrt()
    }
}
