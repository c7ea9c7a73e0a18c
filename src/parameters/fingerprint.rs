//! The structure of a type as a number.

use core::fmt;

/// A hash of a type's whole structure: layers, their order and names, widths, heads, masks, activations, epsilons, formats.
///
/// Two types of the same size that compute different things have different fingerprints; two spellings of the same
/// structure have the same. It is a constant, so an image of weights is checked against its type at compile time.
///
/// FNV-1a, 64 bits: Fowler, Noll & Vo, [The FNV Non-Cryptographic Hash Algorithm][fnv].
///
/// [fnv]: https://datatracker.ietf.org/doc/html/rfc9923
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The start of a structure called `name`.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        Self(0xcbf2_9ce4_8422_2325).name(name)
    }

    /// The structure goes on with a name.
    #[must_use]
    pub const fn name(self, name: &str) -> Self {
        self.bytes(name.as_bytes()).number(name.len())
    }

    /// The structure goes on with a number.
    #[must_use]
    pub const fn number(self, n: usize) -> Self {
        self.bytes(&(n as u64).to_le_bytes()) // the same on every target
    }

    /// The structure goes on with a part that has one of its own.
    #[must_use]
    pub const fn part(self, part: Self) -> Self {
        self.bytes(&part.0.to_le_bytes())
    }

    const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self.0 = (self.0 ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        self
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
