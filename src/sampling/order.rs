//! Order statistics without memory: the threshold is found by bisection over the floating-point numbers.
//!
//! Floating-point numbers are finitely many and ordered as integers are. So the greatest number that satisfies a monotone
//! condition, as "at least k logits are as large", is found in at most 32 passes, and it is one of the logits.

/// The greatest number between `lowest` and `highest` that satisfies `condition`, which `lowest` does, and which no number
/// does above one that does not.
pub(super) fn greatest(lowest: f32, highest: f32, condition: impl Fn(f32) -> bool) -> f32 {
    let (mut low, mut high) = (rank(lowest), rank(highest));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if condition(number(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    number(low)
}

const SIGN: u32 = 1 << 31;

/// An integer for each number, in their order.
fn rank(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The number of a [`rank`].
fn number(rank: u32) -> f32 {
    f32::from_bits(if rank & SIGN == 0 { !rank } else { rank & !SIGN })
}
