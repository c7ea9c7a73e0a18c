//! What the core can do: multiply-adds, and bytes read.

use cpu_time::ProcessTime;
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};
use std::{hint::black_box, time::Duration};

/// The instruction set that was found, and what it does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Core {
    /// As the operating system calls the processor.
    pub name: String,
    /// Numbers in a vector.
    pub lanes: usize,
    /// 10⁹ multiplications and additions of `f32` a second, two for a multiply-add.
    pub gflops: f64,
    /// 10⁹ bytes a second, of 40 MB that are read again and again.
    pub bandwidth_40: f64,
    /// The same of 340 MB.
    pub bandwidth_340: f64,
}

impl Core {
    /// Measures it, in a second or two.
    #[must_use]
    pub fn measure() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field =
            |field: &str| info.lines().find(|line| line.starts_with(field)).and_then(|line| line.split(": ").nth(1));
        let [name, family, model] = ["model name", "cpu family", "model\t"].map(|name| field(name).unwrap_or("?"));
        let (lanes, gflops) = Arch::new().dispatch(MultiplyAdd);
        Self {
            name: format!("{name}, family {family}, model {model}"),
            lanes,
            gflops,
            bandwidth_40: bandwidth(40_000_000),
            bandwidth_340: bandwidth(340_000_000),
        }
    }
}

/// The rate at which as many bytes are read, four streams at once, in 10⁹ bytes a second.
#[must_use]
pub fn bandwidth(bytes: usize) -> f64 {
    let numbers = vec![1.0; bytes / 4];
    let passes = (200_000_000 / bytes).max(1);
    let seconds = best(5, || {
        for _ in 0..passes {
            black_box(Arch::new().dispatch(Sum(black_box(&numbers))));
        }
    });
    (passes * bytes) as f64 / seconds * 1e-9
}

/// Seconds of the fastest of several.
fn best(times: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = ProcessTime::now();
        work();
        start.elapsed()
    };
    (0..=times).map(time).min().unwrap_or(Duration::MAX).as_secs_f64()
}

/// As many sums as hide the latency, in registers.
struct MultiplyAdd;

impl WithSimd for MultiplyAdd {
    type Output = (usize, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        if S::REGISTER_COUNT >= 32 { multiply_add::<S, 24>(simd) } else { multiply_add::<S, 12>(simd) }
    }
}

#[inline(always)]
fn multiply_add<S: Simd, const SUMS: usize>(simd: S) -> (usize, f64) {
    const STEPS: usize = 2_000_000;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let [a, b] = [0.999, 0.001].map(|x| simd.splat_f32s(black_box(x)));
        let mut sums = [simd.splat_f32s(black_box(1.0)); SUMS];
        let start = ProcessTime::now();
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f32s(*sum, a, b);
            }
        }
        let total = sums.into_iter().fold(simd.splat_f32s(0.0), |total, sum| simd.add_f32s(total, sum));
        black_box(simd.reduce_sum_f32s(total));
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    (S::F32_LANES, (2 * STEPS * SUMS * S::F32_LANES) as f64 / fastest * 1e-9)
}

/// The sum of all numbers.
struct Sum<'a>(&'a [f32]);

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (vectors, _) = S::as_simd_f32s(self.0);
        let quarter = vectors.len() / 4;
        let [a, b, c, d] = std::array::from_fn(|i| &vectors[i * quarter..][..quarter]);
        let mut sums = [simd.splat_f32s(0.0); 8];
        let pairs = a
            .as_chunks::<2>()
            .0
            .iter()
            .zip(b.as_chunks::<2>().0)
            .zip(c.as_chunks::<2>().0.iter().zip(d.as_chunks::<2>().0));
        for ((a, b), (c, d)) in pairs {
            for (sum, x) in sums.iter_mut().zip([a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]) {
                *sum = simd.add_f32s(*sum, x);
            }
        }
        simd.reduce_sum_f32s(sums.into_iter().fold(simd.splat_f32s(0.0), |total, sum| simd.add_f32s(total, sum)))
    }
}
