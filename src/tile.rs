//! Tokens that pass through the layers together.

use crate::message::Message;

/// Tokens that pass through the layers together, unless a scratch says otherwise: many on a host, so that each weight read
/// is used many times; few on a microcontroller, where memory is scarce.
pub const TILE: usize = if cfg!(target_pointer_width = "64") { 48 } else { 4 };

/// How many of `len` tokens make a tile: at most `TILE`, at least one, and none much fewer than another, since few rows cost
/// as much as eight.
pub(crate) const fn rows<const TILE: usize>(len: usize) -> usize {
    const {
        if TILE == 0 {
            Message::new().text("a tile of ").number(TILE).text(" tokens: it must have at least one").panic();
        }
    }
    let even = match len.div_ceil(TILE) {
        0 | 1 => TILE,
        tiles => len.div_ceil(tiles).next_multiple_of(8),
    };
    match if even < TILE { even } else { TILE } {
        0 => 1, // never, and so told to the compiler: `chunks` of none would panic
        rows => rows,
    }
}
