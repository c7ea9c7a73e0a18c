//! Factors without a floating-point number.

/// m 2ᵉ, with an m of up to 31 bits: of 31 when it is made, and of three less at most for each factor that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    m: u32,
    e: i32,
}

impl Factor {
    /// 2ⁿ
    pub(crate) const fn power_of_two(n: i32) -> Self {
        Self { m: 1 << 30, e: n - 30 }
    }

    /// n
    pub(crate) const fn of(n: u32) -> Self {
        let up = n.leading_zeros().cast_signed() - 1;
        Self { m: if up < 0 { n >> 1 } else { n << (up & 31) }, e: -up }
    }

    /// 2ⁿ times this.
    pub(crate) const fn shifted(self, n: i32) -> Self {
        Self { m: self.m, e: self.e + n }
    }

    /// 1 / n, to 2⁻²⁹ of it; 0 of 0.
    pub(crate) const fn reciprocal(n: u64) -> Self {
        let lead = n.leading_zeros();
        let d = ((n << (lead & 63)) >> 32) as u32;
        // 2⁶² / d, first to 16 bits, then to twice as many by Newton's method.
        let Some(x) = 0x8000_0000u32.checked_div(d >> 16) else { return Self { m: 0, e: 0 } };
        let x = (x as u64) << 15;
        let rest = (1u64 << 62).wrapping_sub(x * d as u64).cast_signed();
        let x = (x.cast_signed() + (((rest >> 31) * x.cast_signed()) >> 31)) as u32;
        // n = d 2^(32 - lead), so 1 / n = x 2^(lead - 94).
        let (m, more) = if x >> 31 == 1 { (x >> 1, 1) } else { (x, 0) };
        Self { m, e: lead.cast_signed() - 94 + more }
    }

    /// A floating-point number of 0 or more; what is less than 2⁻¹²⁶ is taken for something between that and half of it.
    #[inline(always)]
    pub(crate) const fn from_f32(x: f32) -> Self {
        let (exponent, fraction) = ((x.to_bits() >> 23 & 0xff).cast_signed(), x.to_bits() & 0x007f_ffff);
        Self { m: (fraction | 0x0080_0000) << 7, e: exponent - 157 }
    }

    /// The floating-point number nearest to it; 0 if that is subnormal, and infinite beyond the greatest.
    pub(crate) const fn to_f32(self) -> f32 {
        let up = self.m.leading_zeros().cast_signed() - 1;
        let (m, exponent) = (self.m << (up & 31), self.e + 157 - up);
        let bits = match exponent {
            _ if self.m == 0 => 0,
            ..1 => 0,
            255.. => f32::INFINITY.to_bits(),
            // Of two the even one. What is rounded up to the next power of two has the next exponent.
            _ => ((exponent as u32 - 1) << 23) + ((m + 63 + (m >> 7 & 1)) >> 7),
        };
        f32::from_bits(bits)
    }

    /// a b
    #[inline(always)]
    pub(crate) const fn times(self, other: Self) -> Self {
        let product = self.m as u64 * other.m as u64;
        Self { m: (product >> 32) as u32, e: self.e + other.e + 32 }
    }

    /// 2ⁿ times this factor times x, rounded to an integer; the greatest or least one if that is not in range.
    #[inline(always)]
    pub(crate) const fn apply<const N: i32>(self, x: i32) -> i32 {
        let (product, down) = (x as i64 * self.m as i64, -(self.e + N));
        if down < 1 || down > 31 {
            return Self::shift(product, down);
        }
        // As most are. In words of 32 bits, as a processor that needs integers has them.
        let product = product + (1 << (down - 1));
        let (high, low) = ((product >> 32) as i32, product as u32);
        let y = (low >> down).cast_signed() | (high << (32 - down));
        if high >> (down - 1) == y >> 31 { y } else { Self::beyond(high) }
    }

    /// What does not fit.
    const fn beyond(sign: i32) -> i32 {
        if sign < 0 { i32::MIN } else { i32::MAX }
    }

    /// A product of 62 bits, shifted down.
    #[inline(never)]
    const fn shift(product: i64, down: i32) -> i32 {
        match down {
            33..64 => (((product >> 32) as i32 >> (down - 33)) + 1) >> 1,
            64.. => 0,
            32 => ((product >> 31) as i32 >> 1) + ((product >> 31) as i32 & 1),
            _ if product == 0 => 0,
            0 if product as i32 as i64 == product => product as i32,
            -30..0 if ((product << -down) as i32 as i64) >> -down == product => (product << -down) as i32,
            _ => Self::beyond((product >> 32) as i32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Factor;

    const NUMBERS: [f32; 9] = [1.0, 0.75, 1e-7, 3.4e5, 0.007_874_016, 1.999_999_9, 1e-30, 1e30, 127.0];

    #[test]
    fn floating_point_numbers_are_what_they_were() {
        for x in NUMBERS {
            assert_eq!(Factor::from_f32(x).to_f32(), x);
        }
        assert!(Factor::from_f32(0.0).to_f32() < 2e-38);
        assert!(Factor::from_f32(1e-40).to_f32() < 2e-38);
        assert_eq!(Factor::of(0).to_f32(), 0.0);
        for n in [1, 2, 3, 127, 65_535, 1 << 23, 1 << 31] {
            assert_eq!(Factor::of(n).to_f32(), n as f32);
        }
    }

    #[test]
    fn products_and_reciprocals() {
        for x in NUMBERS {
            for y in NUMBERS {
                let (found, expected) =
                    (Factor::from_f32(x).times(Factor::from_f32(y)).to_f32(), f64::from(x) * f64::from(y));
                if (1e-37..1e38).contains(&expected) {
                    assert!((f64::from(found) / expected - 1.0).abs() < 1e-7, "{x} {y}");
                }
            }
        }
        for n in [1, 2, 3, 99, 127, 65_537, (1 << 40) + 12_345, u64::MAX, 1 << 63] {
            let found = f64::from(Factor::reciprocal(n).to_f32());
            assert!((found * n as f64 - 1.0).abs() < 1e-7, "{n}: {found:e}");
        }
        assert_eq!(Factor::reciprocal(0).to_f32(), 0.0);
    }

    #[test]
    fn integers_times_factors() {
        for f in [1.0, 0.75, 1e-7, 3e4, 0.007_874_016, 1e-30, 1e30, 0.0, 1e-5, 1.5e-5] {
            for x in [0, 1, -1, 2, -3, 127, -8_000_000, 123_456_789, i32::MAX, i32::MIN] {
                let expected = (f64::from(f) * f64::from(x) * 65_536.0).round();
                let expected = expected.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
                let found = f64::from(Factor::from_f32(f).apply::<16>(x));
                assert!((found - expected).abs() <= 1.0 + expected.abs() * 1e-9, "{f} {x}: {found} for {expected}");
            }
        }
    }
}
