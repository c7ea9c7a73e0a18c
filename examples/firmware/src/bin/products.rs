//! Products against their definition, bit for bit, for widths of every remainder, and attention over keys and values of 8 bits, to be compared
//! with a host's: on a Cortex-M4F by the instructions that the compiler does not find.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{
    AttentionScratch, Format, Gpt2, Head, Int4, Int8, Int8Cache, KnownWidth, Linear, MultiHeadAttention, NoBias,
    Parameters, Sequence, SplitInto, Tied, TokenEmbedding, Width, Zero,
};
use firmware::{Trace, report};

firmware::program!(run);

/// Tokens, up to four at once and what is left over.
const TOKENS: usize = 7;

fn run() -> bool {
    let f32 = [
        check::<f32, 1, 1>(),
        check::<f32, 2, 3>(),
        check::<f32, 3, 5>(),
        check::<f32, 4, 7>(),
        check::<f32, 5, 8>(),
        check::<f32, 7, 9>(),
        check::<f32, 8, 11>(),
        check::<f32, 11, 12>(),
        check::<f32, 13, 15>(),
        check::<f32, 15, 16>(),
        check::<f32, 16, 17>(),
        check::<f32, 17, 23>(),
        check::<f32, 19, 24>(),
        check::<f32, 1, 25>(),
        check::<f32, 31, 31>(),
        check::<f32, 32, 32>(),
        check::<f32, 61, 33>(),
        check::<f32, 64, 43>(),
        check::<f32, 97, 47>(),
        check::<f32, 2, 48>(),
        check::<f32, 3, 67>(),
        check::<f32, 101, 2>(),
        check::<f32, 172, 64>(),
    ];
    let int8 = [
        check::<Int8, 1, 1>(),
        check::<Int8, 2, 3>(),
        check::<Int8, 3, 5>(),
        check::<Int8, 4, 4>(),
        check::<Int8, 5, 7>(),
        check::<Int8, 7, 2>(),
        check::<Int8, 8, 13>(),
        check::<Int8, 11, 6>(),
        check::<Int8, 13, 11>(),
        check::<Int8, 20, 4>(),
        check::<Int8, 31, 17>(),
        check::<Int8, 32, 16>(),
        check::<Int8, 61, 5>(),
        check::<Int8, 64, 23>(),
        check::<Int8, 97, 4>(),
        check::<Int8, 1361, 2>(), // the last row that an instruction reaches
        check::<Int8, 1367, 5>(), // and the first that it does not
    ];
    let int4 = [
        check::<Int4, 1, 1>(),
        check::<Int4, 2, 3>(),
        check::<Int4, 3, 5>(),
        check::<Int4, 5, 7>(),
        check::<Int4, 7, 2>(),
        check::<Int4, 8, 13>(),
        check::<Int4, 13, 11>(),
        check::<Int4, 29, 4>(),
        check::<Int4, 31, 17>(),
        check::<Int4, 32, 16>(),
        check::<Int4, 33, 7>(),
        check::<Int4, 37, 6>(),
        check::<Int4, 43, 4>(),
        check::<Int4, 61, 5>(),
        check::<Int4, 64, 23>(),
        check::<Int4, 97, 4>(),
        check::<Int4, 1367, 5>(),
    ];
    let tied = [
        check_tied::<1>(),
        check_tied::<3>(),
        check_tied::<4>(),
        check_tied::<7>(),
        check_tied::<8>(),
        check_tied::<11>(),
        check_tied::<13>(),
        check_tied::<16>(),
        check_tied::<29>(),
        check_tied::<64>(),
        check_tied::<97>(),
    ];
    for (i, right) in int4.iter().enumerate() {
        if !right {
            report::number("wrong", i as u32);
        }
    }
    let all_right = [
        count("f32 products that are right", &f32),
        count("int8 products that are right", &int8),
        count("int4 products that are right", &int4),
        count("tied heads that are right", &tied),
    ];
    let mut trace = Trace::EMPTY;
    attend::<1, 1, 3>(&mut trace);
    attend::<6, 2, 7>(&mut trace);
    attend::<8, 1, 32>(&mut trace);
    attend::<21, 3, 37>(&mut trace);
    attend::<26, 2, 66>(&mut trace);
    report::bits("int8 attention", trace.hash);
    all_right == [true; 4]
}

/// Says how many are right; returns whether all are.
fn count(name: &str, right: &[bool]) -> bool {
    let count = right.iter().filter(|right| **right).count();
    report::number(name, count as u32);
    count == right.len()
}

/// Numbers of -1 to 1.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[inline(never)]
fn check<T: Definition, const IN: usize, const OUT: usize>() -> bool
where
    Width<IN>: KnownWidth,
{
    let mut random = Random((IN * OUT) as u32);
    let mut weights = [[0.0; IN]; OUT];
    weights.as_flattened_mut().fill_with(|| random.next());
    let mut linear = Linear::<IN, OUT, T, NoBias>::ZERO;
    linear.for_each_tensor_mut(|_, mut tensor| {
        let _ = tensor.set_row_major(weights.as_flattened().iter().copied());
    });
    let mut x = Sequence::<IN, TOKENS>::new();
    for _ in 0..TOKENS {
        let mut token = [0.0; IN];
        token.fill_with(|| random.next());
        let _ = x.push(&token);
    }
    let mut y = Sequence::<OUT, TOKENS>::new();
    linear.forward(&x, &mut y);
    let mut tokens = x.tokens().iter().zip(y.tokens());
    y.len() == TOKENS
        && tokens.all(|(x, y)| weights.iter().zip(y).all(|(w, y)| y.to_bits() == T::product(x, w).to_bits()))
}

#[inline(never)]
fn check_tied<const D: usize>() -> bool {
    let mut random = Random(D as u32);
    let mut embedding = TokenEmbedding::<5, D>::ZERO;
    let table = &mut embedding.weight.rows;
    table.as_flattened_mut().fill_with(|| random.next());
    let (mut x, mut logits) = ([0.0; D], [0.0; 5]);
    x.fill_with(|| random.next());
    Tied.logits(&embedding, &x, &mut logits);
    embedding.weight.rows.iter().zip(logits).all(|(w, logit)| logit.to_bits() == in_eight_sums(w, &x).to_bits())
}

/// w · x, in a sum for every eighth product; the last ones, if they are fewer, go to the first four sums.
fn in_eight_sums(w: &[f32], x: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    let whole = x.len() / 8 * 8;
    for (i, (w, x)) in w.iter().zip(x).enumerate() {
        sums[if i < whole { i % 8 } else { i % 4 }] += w * x;
    }
    let two = |i| sums[i] + sums[i + 4];
    (two(0) + two(2)) + (two(1) + two(3))
}

/// A format whose products are defined.
trait Definition: Format {
    /// x · w
    fn product(x: &[f32], w: &[f32]) -> f32;
}

impl Definition for f32 {
    /// One sum, from the first to the last, rounded after each multiplication and addition.
    fn product(x: &[f32], w: &[f32]) -> f32 {
        x.iter().zip(w).fold(0.0, |sum, (x, w)| sum + x * w)
    }
}

impl Definition for Int8 {
    /// An exact sum of integers, times both scales.
    fn product(x: &[f32], w: &[f32]) -> f32 {
        let (x_scale, w_scale) = (scale(x), scale(w));
        let sum: i32 = x.iter().zip(w).map(|(x, w)| integer(*x, x_scale) * integer(*w, w_scale)).sum();
        sum as f32 * (x_scale.0 * w_scale.0)
    }
}

impl Definition for Int4 {
    /// An exact sum of integers, of the weights multiples of the factor of each 32 of them, times both scales.
    fn product(x: &[f32], w: &[f32]) -> f32 {
        let (x_scale, w_scale) = (scale(x), greatest(w) * (1.0 / 1785.0));
        let mut sum = 0;
        for (x, w) in x.chunks(32).zip(w.chunks(32)) {
            let factor = greatest(w) / (7.0 * w_scale);
            let below = factor as i32;
            let factor = if factor > below as f32 * (1.0 + f32::EPSILON) { (below + 1).min(255) } else { below };
            let unit = w_scale * factor as f32;
            for (x, w) in x.iter().zip(w) {
                sum += integer(*x, x_scale) * factor * nearest(*w / unit);
            }
        }
        sum as f32 * (x_scale.0 * w_scale)
    }
}

/// Adds the outputs of an attention layer, of `L` tokens, to the trace.
#[inline(never)]
fn attend<const D: usize, const HEADS: usize, const L: usize>(trace: &mut Trace)
where
    Width<D>: SplitInto<HEADS>,
{
    let mut random = Random((D * L) as u32);
    let mut attention = MultiHeadAttention::<Gpt2, D, HEADS, Int8Cache<f32>>::ZERO;
    attention.for_each_tensor_mut(|_, mut tensor| tensor.stored_mut().fill_with(|| random.next()));
    let mut x = Sequence::<D, L>::new();
    for _ in 0..L {
        let mut token = [0.0; D];
        token.fill_with(|| random.next());
        let _ = x.push(&token);
    }
    let mut scratch = AttentionScratch::<D, L, 4, D, i8>::ZERO;
    attention.forward(&mut x, &mut scratch);
    for token in x.tokens() {
        trace.add(token);
    }
}

fn greatest(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |max: f32, x| max.max(x.abs()))
}

/// The scale, and its inverse.
fn scale(x: &[f32]) -> (f32, f32) {
    let greatest = greatest(x);
    (greatest * (1.0 / 127.0), 127.0 / greatest)
}

/// The integer of a number.
fn integer(x: f32, (_, inverse): (f32, f32)) -> i32 {
    nearest(x * inverse)
}

/// The nearest integer; of two, the even one.
fn nearest(x: f32) -> i32 {
    let below = x as i32 - i32::from(x < 0.0);
    let above = x - below as f32;
    below + i32::from(above > 0.5 || above.to_bits() == 0.5f32.to_bits() && below % 2 != 0)
}
