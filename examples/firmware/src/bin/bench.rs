//! Instructions of single operations, of zero weights: their number does not depend on what the numbers are.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{
    Activation, Format, Gelu, GeluTanh, Int4, Int8, KnownWidth, LayerNorm, Linear, Norm, Sequence, Width, Zero,
    machine::Plain, math::fixed, math::softmax,
};
use core::hint::black_box;
use firmware::{board, report};

firmware::program!(run);

static NARROW: Linear<64, 64> = Linear::ZERO;
static WIDEN: Linear<64, 256> = Linear::ZERO;
static NARROWER: Linear<256, 64> = Linear::ZERO;
static NARROW_INT8: Linear<64, 64, Int8> = Linear::ZERO;
static WIDEN_INT8: Linear<64, 256, Int8> = Linear::ZERO;
static NARROWER_INT8: Linear<256, 64, Int8> = Linear::ZERO;
static NARROW_INT4: Linear<64, 64, Int4> = Linear::ZERO;
static WIDEN_INT4: Linear<64, 256, Int4> = Linear::ZERO;
static NARROWER_INT4: Linear<256, 64, Int4> = Linear::ZERO;
static NORM: LayerNorm<64> = LayerNorm::ONE;

fn run() -> bool {
    linear::<4, 64, 64, _>("linear 64x64", &NARROW);
    linear::<4, 64, 256, _>("linear 64x256", &WIDEN);
    linear::<4, 256, 64, _>("linear 256x64", &NARROWER);
    linear::<1, 64, 64, _>("linear 64x64, a token", &NARROW);
    linear::<1, 64, 256, _>("linear 64x256, a token", &WIDEN);
    linear::<1, 256, 64, _>("linear 256x64, a token", &NARROWER);
    linear::<1, 64, 64, _>("int8 linear 64x64, a token", &NARROW_INT8);
    linear::<4, 64, 64, _>("int8 linear 64x64, 4 tokens", &NARROW_INT8);
    linear::<1, 64, 256, _>("int8 linear 64x256, a token", &WIDEN_INT8);
    linear::<4, 64, 256, _>("int8 linear 64x256, 4 tokens", &WIDEN_INT8);
    linear::<1, 256, 64, _>("int8 linear 256x64, a token", &NARROWER_INT8);
    linear::<4, 256, 64, _>("int8 linear 256x64, 4 tokens", &NARROWER_INT8);
    linear::<1, 64, 64, _>("int4 linear 64x64, a token", &NARROW_INT4);
    linear::<4, 64, 64, _>("int4 linear 64x64, 4 tokens", &NARROW_INT4);
    linear::<1, 64, 256, _>("int4 linear 64x256, a token", &WIDEN_INT4);
    linear::<4, 64, 256, _>("int4 linear 64x256, 4 tokens", &WIDEN_INT4);
    linear::<1, 256, 64, _>("int4 linear 256x64, a token", &NARROWER_INT4);
    linear::<4, 256, 64, _>("int4 linear 256x64, 4 tokens", &NARROWER_INT4);
    elements("softmax of 64", softmax);
    elements("gelu erf", activate::<Gelu>);
    elements("gelu tanh", activate::<GeluTanh>);
    elements("layer norm of 64", |x| NORM.forward(x.as_chunks_mut().0));
    integers("fixed softmax of 64", fixed::softmax);
    integers("fixed gelu", |x| x.iter_mut().for_each(|x| *x = fixed::gelu(*x)));
    integers("fixed layer norm of 64", |x| {
        for x in x.as_chunks_mut().0 {
            fixed::layer_norm(x, &[1 << 16; 64], &[0; 64], 1e-5);
        }
    });
    true
}

/// Of a multiply-add.
fn linear<const TOKENS: usize, const IN: usize, const OUT: usize, T: Format>(name: &str, linear: &Linear<IN, OUT, T>)
where
    Width<IN>: KnownWidth,
{
    let (mut x, mut y) = (Sequence::<IN, TOKENS>::new(), Sequence::<OUT, TOKENS>::new());
    for _ in 0..TOKENS {
        if x.push(&[1.0; IN]).is_err() {
            board::exit(false);
        }
    }
    let instructions = board::count(|| black_box(linear).forward(black_box(&x), black_box(&mut y)));
    report::ratio(name, instructions, (TOKENS * IN * OUT) as u32);
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

/// Of one of 64 fixed-point numbers.
fn integers(name: &str, f: impl FnOnce(&mut [i32])) {
    let mut x = [0; 64];
    for (i, x) in (0..).zip(&mut x) {
        *x = (i << 12) - (2 << 16);
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
