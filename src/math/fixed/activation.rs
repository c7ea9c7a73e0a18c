//! Activations of fixed-point numbers: max(x, 0) less a function of |x| that soon is 0, of which there is a table.

use super::POINT;
use crate::math::power_of_ten;
use core::f64::consts::{FRAC_2_SQRT_PI, LOG10_E, SQRT_2};

/// x Φ(x), GELU with the distribution function Φ of the normal distribution, within 1.5e-4
///
/// PyTorch: `nn.GELU()`.
#[must_use]
pub fn gelu(x: i32) -> i32 {
    static TABLE: Table<3> = Table::new(Tail::Normal);
    TABLE.activate(x)
}

/// 1/2 x (1 + tanh(√(2/π) (x + 0.044715 x³))), within 1.5e-4
///
/// PyTorch: `nn.GELU(approximate="tanh")`.
#[must_use]
pub fn gelu_tanh(x: i32) -> i32 {
    static TABLE: Table<3> = Table::new(Tail::Tanh);
    TABLE.activate(x)
}

/// x / (1 + e⁻ˣ), within 3e-4
///
/// PyTorch: `nn.SiLU()`.
#[must_use]
pub fn silu(x: i32) -> i32 {
    static TABLE: Table<4> = Table::new(Tail::Logistic);
    TABLE.activate(x)
}

/// A distribution function F with F(-t) = 1 - F(t): the activation is x F(x) = max(x, 0) - |x| F(-|x|).
#[derive(Clone, Copy)]
enum Tail {
    Normal,
    Tanh,
    Logistic,
}

impl Tail {
    /// F(-t)
    const fn at(self, t: f64) -> f64 {
        match self {
            Self::Normal => (1.0 - erf(t / SQRT_2)) / 2.0,
            Self::Tanh => logistic_tail(SQRT_8_PI * (t + 0.044_715 * t * t * t)),
            Self::Logistic => logistic_tail(t),
        }
    }
}

/// √(8 / π), since (1 + tanh u) / 2 is the logistic function of 2 u.
const SQRT_8_PI: f64 = 1.595_769_121_605_731;

/// 1 / (1 + eᵗ)
const fn logistic_tail(t: f64) -> f64 {
    1.0 / (1.0 + power_of_ten(t * LOG10_E))
}

/// 2/√π Σₙ (-1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)), for x up to 6: terms cancel, and 1e-4 is enough.
const fn erf(x: f64) -> f64 {
    if x > 4.0 {
        return 1.0;
    }
    let (mut sum, mut power, mut n) = (0.0, x, 0.0);
    while n < 80.0 {
        sum += power / (2.0 * n + 1.0);
        n += 1.0;
        power *= -x * x / n;
    }
    sum * FRAC_2_SQRT_PI
}

/// t F(-t) for 257 numbers t from 0 to 2^RANGE, as fixed-point numbers.
struct Table<const RANGE: u32>([u16; STEPS + 1]);

const LOG_STEPS: u32 = 8;
const STEPS: usize = 1 << LOG_STEPS;

impl<const RANGE: u32> Table<RANGE> {
    /// Bits of t below a step.
    const REST: u32 = POINT + RANGE - LOG_STEPS;

    const fn new(tail: Tail) -> Self {
        let (mut table, mut place) = ([0; STEPS + 1], 0);
        while place <= STEPS {
            let t = (place << RANGE) as f64 / STEPS as f64;
            table[place] = (t * tail.at(t) * (1u32 << POINT) as f64 + 0.5) as u16;
            place += 1;
        }
        Self(table)
    }

    /// x F(x), between two numbers of the table by a straight line.
    #[inline(always)]
    fn activate(&self, x: i32) -> i32 {
        let t = x.unsigned_abs();
        let (place, rest) = ((t >> Self::REST) as usize, (t & ((1 << Self::REST) - 1)) as i32);
        let tail = match (self.0.get(place), self.0.get(place + 1)) {
            (Some(a), Some(b)) => {
                let (a, b) = (i32::from(*a), i32::from(*b));
                a + (((b - a) * rest) >> Self::REST)
            }
            _ => 0,
        };
        x.max(0) - tail
    }
}
