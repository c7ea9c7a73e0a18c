//! Products in the format `Int8` against their definition, for widths of every remainder, and attention in the format `Int8Cache`, to be
//! compared with a host's: with the DSP instructions where the target has them.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{
    AttentionScratch, Gpt2, Int8, Int8Cache, Linear, MultiHeadAttention, NoBias, Parameters, Sequence, SplitInto,
    Width, Zero,
};
use firmware::{Trace, report};

firmware::program!(run);

/// Tokens, up to four at once and what is left over.
const TOKENS: usize = 7;

fn run() -> bool {
    let right = [
        check::<1, 1>(),
        check::<2, 3>(),
        check::<3, 5>(),
        check::<4, 4>(),
        check::<5, 7>(),
        check::<7, 2>(),
        check::<8, 13>(),
        check::<11, 6>(),
        check::<13, 11>(),
        check::<20, 4>(),
        check::<31, 17>(),
        check::<32, 16>(),
        check::<61, 5>(),
        check::<64, 23>(),
        check::<97, 4>(),
        check::<1361, 2>(), // the last row that an instruction reaches
        check::<1367, 5>(), // and the first that it does not
    ];
    let count = right.iter().filter(|right| **right).count();
    report::number("int8 products that are right", count as u32);
    let mut trace = Trace::EMPTY;
    attend::<1, 1, 3>(&mut trace);
    attend::<6, 2, 7>(&mut trace);
    attend::<8, 1, 32>(&mut trace);
    attend::<21, 3, 37>(&mut trace);
    attend::<26, 2, 66>(&mut trace);
    report::bits("int8 attention", trace.hash);
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
fn check<const IN: usize, const OUT: usize>() -> bool {
    let mut random = Random((IN * OUT) as u32);
    let mut weights = [[0.0; IN]; OUT];
    weights.as_flattened_mut().fill_with(|| random.next());
    let mut linear = Linear::<IN, OUT, Int8, NoBias>::ZERO;
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
    let tokens = x.tokens().iter().zip(y.tokens());
    y.len() == TOKENS
        && tokens.into_iter().all(|(x, y)| {
            weights.iter().zip(y).all(|(w, y)| {
                let (x_scale, w_scale) = (scale(x), scale(w));
                let sum: i32 = x.iter().zip(w).map(|(x, w)| integer(*x, x_scale) * integer(*w, w_scale)).sum();
                y.to_bits() == (sum as f32 * (x_scale.0 * w_scale.0)).to_bits()
            })
        })
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

/// The scale, and its inverse.
fn scale(x: &[f32]) -> (f32, f32) {
    let greatest = x.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    (greatest * (1.0 / 127.0), 127.0 / greatest)
}

/// The nearest integer; of two, the even one.
fn integer(x: f32, (_, inverse): (f32, f32)) -> i32 {
    let x = x * inverse;
    let below = x as i32 - i32::from(x < 0.0);
    let above = x - below as f32;
    below + i32::from(above > 0.5 || above.to_bits() == 0.5f32.to_bits() && below % 2 != 0)
}
