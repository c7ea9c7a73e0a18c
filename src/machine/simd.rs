//! The instruction set found at run time, by way of `pulp`.

#![cfg_attr(constformer_machine = "plain", allow(dead_code, reason = "no instruction set is asked for"))]

use super::{Lanes, Machine, Plain, Work, of_machines};

/// An instruction set of `pulp`; a value of it is the proof that the processor has it.
#[derive(Clone, Copy, Debug)]
struct Simd<S>(S);

macro_rules! forward {
    ($($name:ident($($a:ident: $from:ty),*) -> $to:ty = $f:ident;)*) => { $(
        #[inline(always)]
        fn $name(self, $($a: $from),*) -> $to {
            self.0.$f($($a),*)
        }
    )* };
}

impl<S: pulp::Simd> Lanes for Simd<S> {
    type Number = f32;
    type Vector = S::f32s;
    const LANES: usize = S::F32_LANES;

    of_machines!();

    #[inline(always)]
    fn load(self, x: &[f32]) -> S::f32s {
        match S::as_simd_f32s(x) {
            ([vector, ..], _) => *vector,
            ([], rest) => self.0.partial_load_f32s(rest),
        }
    }

    #[inline(always)]
    fn store(self, x: S::f32s, out: &mut [f32]) {
        match S::as_mut_simd_f32s(out) {
            ([vector, ..], _) => *vector = x,
            ([], rest) => self.0.partial_store_f32s(rest, x),
        }
    }

    forward! {
        splat(a: f32) -> S::f32s = splat_f32s;
        add(a: S::f32s, b: S::f32s) -> S::f32s = add_f32s;
        mul(a: S::f32s, b: S::f32s) -> S::f32s = mul_f32s;
    }
}

impl<S: pulp::Simd> Machine for Simd<S> {
    const ROWS: usize = if S::REGISTER_COUNT >= 32 { 8 } else { 6 };
    const VECTORS: usize = 2;
    const DIVIDES: bool = false;

    forward! {
        sub(a: S::f32s, b: S::f32s) -> S::f32s = sub_f32s;
        div(a: S::f32s, b: S::f32s) -> S::f32s = div_f32s;
        min(a: S::f32s, b: S::f32s) -> S::f32s = min_f32s;
        max(a: S::f32s, b: S::f32s) -> S::f32s = max_f32s;
        abs(a: S::f32s) -> S::f32s = abs_f32s;
        mul_add(a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s = mul_add_e_f32s;
        sum_lanes(a: S::f32s) -> f32 = reduce_sum_f32s;
        max_lanes(a: S::f32s) -> f32 = reduce_max_f32s;
    }

    #[inline(always)]
    fn zero_below(self, x: S::f32s, bound: S::f32s, y: S::f32s) -> S::f32s {
        let below = self.0.less_than_f32s(x, bound);
        self.0.select_f32s(below, self.0.splat_f32s(0.0), y)
    }

    #[inline(always)]
    fn power_of_two(self, n: S::f32s) -> S::f32s {
        let n = self.0.wrapping_dyn_shl_u32s(self.0.transmute_u32s_f32s(n), self.0.splat_u32s(23));
        self.0.transmute_f32s_u32s(self.0.add_u32s(n, self.0.splat_u32s(1f32.to_bits())))
    }
}

struct Dispatched<W>(W);

impl<W: Work> pulp::WithSimd for Dispatched<W> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> W::Output {
        self.0.run(Simd(simd))
    }
}

/// Runs `work` on the best machine there is; `--cfg constformer_machine="plain"`, `"avx2"` or `"avx512"` allows none but that and
/// the plain one, for tests.
///
/// Builds with debug assertions leave AVX-512 out, and models compile a third sooner. (Products have the same bits with AVX2; sums over
/// a row, in norms and softmax, are added in another order.)
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(all(
        target_arch = "x86_64",
        any(not(debug_assertions), constformer_machine = "avx512"),
        not(any(constformer_machine = "plain", constformer_machine = "avx2"))
    ))]
    if let Some(simd) = pulp::x86::V4::try_new() {
        return pulp::Simd::vectorize(simd, Dispatched(work));
    }
    #[cfg(all(target_arch = "x86_64", not(any(constformer_machine = "plain", constformer_machine = "avx512"))))]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return pulp::Simd::vectorize(simd, Dispatched(work));
    }
    #[cfg(all(target_arch = "aarch64", not(constformer_machine = "plain")))]
    if let Some(simd) = pulp::aarch64::Neon::try_new() {
        return pulp::Simd::vectorize(simd, Dispatched(work));
    }
    work.run(Plain)
}
