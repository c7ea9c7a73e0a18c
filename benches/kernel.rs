//! `taskset -c 1 cargo bench --bench kernel`: linear maps of many shapes, few rows and many. It fails if a shape collapses.
//!
//! * From 4 rows on, a map whose inputs and outputs are multiples of 32 must reach `OF_THE_BEST` of the GFLOP/s of the best
//!   case of the run. Rows are counted up to the next multiple of 4, since the last tile of ragged rows is a full one.
//! * From 4 rows on, a map of odd widths must reach `OF_THE_NEXT` of the GFLOP/s of the next multiples of the tile, for as many
//!   rows, and a tiny one `OF_THE_NEXT_TINY`. The work of both is what is asked for, rows x inputs x outputs, and not what is padded.
//!
//! The instruction set is the best there is, or that of `RUSTFLAGS='--cfg constformer_machine="avx2"'` or `"plain"`. Times are of
//! the process on the processor, the least of some: what others do on the machine only makes them longer.

use constformer::{KnownWidth, Linear, Parameters, Sequence, Width, boxed};
use cpu_time::ProcessTime;
use std::{hint::black_box, process::ExitCode, time::Duration};

/// In ascending order.
const ROWS: [usize; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 31, 32, 48, MOST];
const MOST: usize = 99;

const OF_THE_BEST: f64 = 0.4;
// What is lost by odd widths differs from processor to processor: 15 to 40 % where it was measured.
const OF_THE_NEXT: f64 = 0.5;
const OF_THE_NEXT_TINY: f64 = 0.35;

/// How often a case is measured, and how often while one seems to have collapsed: others may have had the processor.
const PASSES: usize = 8;
const MOST_PASSES: usize = 40;
/// How long it is measured each time, at least.
const SAMPLE: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let mut shapes = [
        shape::<64, 64>(None),
        shape::<64, 256>(None),
        shape::<256, 64>(None),
        shape::<384, 384>(None),
        shape::<32, 64>(None),
        shape::<32, 48>(None),
        shape::<31, 33>(Some([32, 48])), // of whose products 33 % are padding
        shape::<64, 96>(None),
        shape::<61, 67>(Some([64, 96])),
        shape::<128, 160>(None),
        shape::<127, 131>(Some([128, 160])),
        shape::<48, 80>(None),
        shape::<80, 48>(None),
    ];
    let mut collapsed = vec![];
    for pass in 1..=MOST_PASSES {
        for shape in &mut shapes {
            for (rows, seconds) in ROWS.into_iter().zip(&mut shape.seconds) {
                *seconds = seconds.min((shape.measure)(rows));
            }
        }
        let best = best(&shapes);
        collapsed = shapes.iter().flat_map(|shape| shape.collapsed(best, &shapes)).collect();
        if pass >= PASSES && collapsed.is_empty() {
            break;
        }
    }
    print("GFLOP/s", &shapes, 1.0);
    print("% of the best", &shapes, 100.0 / best(&shapes));
    for case in &collapsed {
        eprintln!("collapsed: {case}");
    }
    if collapsed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// GFLOP/s
fn best(shapes: &[Shape]) -> f64 {
    shapes.iter().flat_map(Shape::gflops).fold(0.0, f64::max)
}

fn print(what: &str, shapes: &[Shape], factor: f64) {
    println!("{what:>14}{}", ROWS.map(|rows| format!("{rows:6}")).concat());
    for shape in shapes {
        let [inputs, outputs] = shape.widths;
        let numbers: Vec<String> = shape.gflops().map(|gflops| format!("{:6.1}", gflops * factor)).collect();
        println!("{:>14}{}", format!("{inputs} x {outputs}"), numbers.concat());
    }
}

/// A linear map, and what it takes.
struct Shape {
    /// Inputs and outputs.
    widths: [usize; 2],
    /// The next multiples of prime widths.
    next: Option<[usize; 2]>,
    /// Measures the seconds that it takes for so many rows.
    measure: Box<dyn FnMut(usize) -> f64>,
    /// The least, for each of [`ROWS`].
    seconds: [f64; ROWS.len()],
}

impl Shape {
    fn gflops(&self) -> impl Iterator<Item = f64> {
        let work = 2e-9 * (self.widths[0] * self.widths[1]) as f64;
        ROWS.into_iter().zip(self.seconds).map(move |(rows, seconds)| work * rows as f64 / seconds)
    }

    /// The cases that are too slow, in words.
    fn collapsed(&self, best: f64, shapes: &[Self]) -> Vec<String> {
        let next = shapes.iter().find(|shape| Some(shape.widths) == self.next);
        let next: Option<Vec<f64>> = next.map(|next| next.gflops().collect());
        let even = self.widths.iter().all(|width| width % 32 == 0);
        let mut cases = vec![];
        let mut check = |rows, what: &str, gflops: f64, least: f64| {
            if gflops < least {
                cases.push(format!("{:?}, {rows} rows, {what}: {gflops:.1} GFLOP/s, {least:.1} wanted", self.widths));
            }
        };
        for (i, (rows, gflops)) in ROWS.into_iter().zip(self.gflops()).enumerate().filter(|(_, (rows, _))| *rows >= 4) {
            if even {
                let full = gflops / rows as f64 * rows.next_multiple_of(4) as f64;
                check(rows, "of the best", full, OF_THE_BEST * best);
            }
            if let Some(next) = next.as_ref().and_then(|next| next.get(i)) {
                let part = if self.widths[1] < 64 { OF_THE_NEXT_TINY } else { OF_THE_NEXT };
                check(rows, "of the next widths", gflops, part * next);
            }
        }
        cases
    }
}

/// With weights that are not zero: pages of zeros may all be the same one.
fn shape<const IN: usize, const OUT: usize>(next: Option<[usize; 2]>) -> Shape
where
    Width<IN>: KnownWidth,
{
    let mut random = Random(1);
    let mut linear = boxed::<Linear<IN, OUT>>();
    linear.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill_with(|| random.next()));
    let tokens: Vec<[f32; IN]> = (0..MOST).map(|_| std::array::from_fn(|_| random.next())).collect();
    let (mut x, mut y) = (boxed::<Sequence<IN, MOST>>(), boxed::<Sequence<OUT, MOST>>());
    let measure = move |rows: usize| {
        x.assign(&tokens[..rows]).expect("as many tokens as there is room for");
        let mut seconds = |repeats: u32| {
            let start = ProcessTime::now();
            for _ in 0..repeats {
                black_box(&linear).forward(black_box(&x), &mut y);
                black_box(&mut y);
            }
            start.elapsed().as_secs_f64() / f64::from(repeats)
        };
        let about = seconds(4);
        seconds((SAMPLE.as_secs_f64() / about).ceil() as u32)
    };
    Shape { widths: [IN, OUT], next, measure: Box::new(measure), seconds: [f64::INFINITY; ROWS.len()] }
}

/// Numbers from -1/2 to 1/2, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    }
}
