//! Instructions of single operations, of zero weights: their number does not depend on what the numbers are.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Activation, Gelu, GeluTanh, LayerNorm, Linear, Norm, Sequence, Zero, machine::Plain, math::softmax};
use core::hint::black_box;
use firmware::{board, report};

firmware::program!(run);

/// Tokens.
const TILE: usize = 4;

static NARROW: Linear<64, 64> = Linear::ZERO;
static WIDEN: Linear<64, 256> = Linear::ZERO;
static NARROWER: Linear<256, 64> = Linear::ZERO;
static NORM: LayerNorm<64> = LayerNorm::ONE;

fn run() -> bool {
    linear("linear 64x64", &NARROW);
    linear("linear 64x256", &WIDEN);
    linear("linear 256x64", &NARROWER);
    elements("softmax of 64", softmax);
    elements("gelu erf", activate::<Gelu>);
    elements("gelu tanh", activate::<GeluTanh>);
    elements("layer norm of 64", |x| NORM.forward(x.as_chunks_mut().0));
    true
}

/// Of a multiply-add.
fn linear<const IN: usize, const OUT: usize>(name: &str, linear: &Linear<IN, OUT>) {
    let (mut x, mut y) = (Sequence::<IN, TILE>::new(), Sequence::<OUT, TILE>::new());
    for _ in 0..TILE {
        if x.push(&[1.0; IN]).is_err() {
            board::exit(false);
        }
    }
    let instructions = board::count(|| black_box(linear).forward(black_box(&x), black_box(&mut y)));
    report::ratio(name, instructions, (TILE * IN * OUT) as u32);
}

/// Of one of 64 numbers.
fn elements(name: &str, f: impl FnOnce(&mut [f32])) {
    let mut x = [0.0; 64];
    for (i, x) in (0u8..).zip(&mut x) {
        *x = f32::from(i) / 16.0 - 2.0;
    }
    let instructions = board::count(|| f(black_box(&mut x)));
    black_box(&x);
    report::ratio(name, instructions, 64);
}

#[inline(never)]
fn activate<A: Activation>(x: &mut [f32]) {
    for x in x.as_chunks_mut().0 {
        *x = A::apply(Plain, *x);
    }
}
