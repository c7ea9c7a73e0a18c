//! Laws of activations.
//!
//! ReLU, GELU (both forms) and SiLU are gates: f(x) = x g(x), where g rises from 0 to 1 and g(x) + g(-x) = 1. The
//! [`TOLERANCE`] is what the approximations of this library promise; ReLU needs none.

use super::{Law, ROUNDING, close, holds};
use crate::{
    Activation,
    machine::{Lanes, Plain, Single},
};
use std::format;

/// Somewhat more than the absolute errors that the activations document, at most 1.5e-6.
pub const TOLERANCE: f64 = 2e-6;

fn apply<A: Activation>(x: f32) -> f64 {
    f64::from(A::apply(Single, x))
}

/// f(x) lies between 0 and x; f(0) = 0, and f(NaN) is NaN
///
/// Since 0 ≤ g ≤ 1. Tolerance: [`TOLERANCE`].
pub fn gate<A: Activation>(x: f32) -> Law {
    let (y, x) = (apply::<A>(x), f64::from(x));
    let between = x.min(0.0) - TOLERANCE <= y && y <= x.max(0.0) + TOLERANCE;
    holds(between, || format!("{}({x:e}) = {y:e}", A::NAME))?;
    close(&A::NAME, apply::<A>(0.0), 0.0, 0.0)?;
    holds(apply::<A>(f32::NAN).is_nan(), || format!("{} of NaN is a number", A::NAME))
}

/// f(x) - f(-x) = x
///
/// Since g(x) + g(-x) = 1. Tolerance: twice [`TOLERANCE`], for two values, and 4u |x|.
pub fn reflection<A: Activation>(x: f32) -> Law {
    let difference = apply::<A>(x) - apply::<A>(-x);
    let tolerance = 2.0 * TOLERANCE + 4.0 * ROUNDING * f64::from(x.abs());
    close(&A::NAME, difference, f64::from(x), tolerance)
}

/// f(x) = x and f(-x) = 0 for x ≥ 20; and 0 ≤ a ≤ b makes f(a) ≤ f(b)
///
/// 1 - g(20) is 2e-9 for the logistic function, and less for the others. Tolerance: [`TOLERANCE`], and 4u x.
pub fn limits<A: Activation>(a: f32, b: f32) -> Law {
    let [a, b] = [a.abs().min(b.abs()), a.abs().max(b.abs())];
    let [low, high] = [apply::<A>(a), apply::<A>(b)];
    let rises = low <= high + 2.0 * TOLERANCE;
    holds(rises, || format!("{}: f({a:e}) = {low:e}, but f({b:e}) = {high:e}", A::NAME))?;
    let far = 20.0 + b;
    close(&A::NAME, apply::<A>(far), f64::from(far), TOLERANCE + 4.0 * ROUNDING * f64::from(far))?;
    close(&A::NAME, apply::<A>(-far), 0.0, TOLERANCE)
}

/// Vectors of lanes are the numbers one by one, bit for bit
///
/// The last columns of a matrix are computed one by one, all others in vectors.
pub fn lanes<A: Activation>(x: [f32; 4]) -> Law {
    let mut y = [0.0; 4];
    Plain.store(A::apply(Plain, Plain.load(&x)), &mut y);
    super::same(A::NAME, &[y], &[x.map(|x| A::apply(Single, x))])
}
