//! Lines of a name and what was found, without `core::fmt`, which is larger than a model's code.

use crate::board::write;

/// `name value`
pub fn number(name: &str, value: u32) {
    line(name, |digits| {
        let mut rest = value;
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            count += 1;
            if rest == 0 {
                break;
            }
        }
        count
    });
}

/// `name value`, in hexadecimal.
pub fn bits(name: &str, value: u32) {
    line(name, |digits| {
        for (i, digit) in digits.iter_mut().rev().take(8).enumerate() {
            let nibble = (value >> (4 * i)) as u8 & 15;
            *digit = if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
        }
        8
    });
}

/// A line that ends with as many of the last bytes as `write_digits` says.
#[inline(never)]
fn line(name: &str, write_digits: impl FnOnce(&mut [u8; 10]) -> usize) {
    let mut digits = [b'0'; 10];
    let count = write_digits(&mut digits);
    write(name.as_bytes());
    write(b" ");
    write(digits.get(10usize.saturating_sub(count)..).unwrap_or_default());
    write(b"\n");
}

/// `name value`, which is `dividend` / `divisor` in thousandths.
pub fn ratio(name: &str, dividend: u32, divisor: u32) {
    number(name, (u64::from(dividend) * 1000 / u64::from(divisor.max(1))) as u32);
}
