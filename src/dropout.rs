//! Dropout: a property of training, and of no layer.

use crate::{
    machine::{Machine, Work, dispatch},
    message::Message,
};
use core::{error::Error, fmt};

/// y = x m / (1 - p), where m is 0 with the probability p, the rate, and 1 otherwise, for every number alone
///
/// The mean of y is x. It stands where Vaswani et al. and GPT-2 have it: after the embedding, on the weights of attention, inside the
/// feed-forward layer after the activation, and on what a sub-layer adds to the residual stream.
///
/// Masks are not stored. Each m is a function of the seed, of the pass, of where in the model it is, and of the token and the feature, so the
/// way back computes it again. Inference has no dropout, and no code for it. Srivastava et al., [Dropout][paper], 2014. PyTorch:
/// `nn.Dropout(p)`.
///
/// [paper]: https://jmlr.org/papers/v15/srivastava14a.html
///
/// ```
/// use constformer::training::Dropout;
///
/// let dropout = Dropout::new(0.1, 17)?; // rate, seed
/// let mut pass = 0;
/// // for every sequence, in every step:
/// let mut rows = [[1.0; 4]; 2];
/// dropout.pass(pass).apply(&mut rows, 0);
/// assert!(rows.as_flattened().iter().all(|y| [0.0, 1.0 / 0.9].contains(y)));
/// pass += 1;
/// # Ok::<(), constformer::training::WrongRate>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// A number is kept if its hash is not below this.
    threshold: u32,
    /// 1 / (1 - p)
    scale: f32,
    key: u64,
}

impl Dropout {
    /// None at all.
    pub const NONE: Self = Self { threshold: 0, scale: 1.0, key: 0 };

    /// With a rate of 0 or more and below 1. A rate of 0 is [`NONE`](Self::NONE), bit for bit.
    ///
    /// # Errors
    ///
    /// [`WrongRate`] for any other.
    pub const fn new(rate: f32, seed: u64) -> Result<Self, WrongRate> {
        if rate >= 0.0 && rate < 1.0 {
            let threshold = (rate as f64 * 4_294_967_296.0) as u32;
            Ok(Self { threshold, scale: 1.0 / (1.0 - rate), key: mix(seed) })
        } else {
            Err(WrongRate { found: rate })
        }
    }

    /// With the masks of a pass over one sequence. Its number should be another for every sequence of every step.
    #[must_use]
    pub const fn pass(self, number: u64) -> Self {
        self.part(number)
    }

    /// With the masks of a part of a model: for layers of one's own.
    #[must_use]
    pub const fn part(self, number: u64) -> Self {
        Self { key: mix(self.key ^ number.wrapping_add(0x9e37_79b9_7f4a_7c15)), ..self }
    }

    /// Whether nothing is dropped.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.threshold == 0
    }

    /// Drops numbers of the rows, the first of which is that of the token `first`. Of gradients it drops the same ones.
    pub fn apply<const N: usize>(self, rows: &mut [[f32; N]], first: usize) {
        const {
            if N as u64 > u32::MAX as u64 {
                Message::new().number(N).text(" numbers in a row, where 2^32 are the most").panic();
            }
        }
        if !self.is_none() {
            dispatch(Drop { dropout: self, rows, first });
        }
    }
}

struct Drop<'a, const N: usize> {
    dropout: Dropout,
    rows: &'a mut [[f32; N]],
    first: usize,
}

impl<const N: usize> Work for Drop<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let Dropout { threshold, scale, key } = self.dropout;
        for (row, x) in (self.first as u64..).zip(self.rows) {
            let key = mix(key ^ row) as u32;
            for (column, x) in (0u32..).zip(x) {
                *x = if hash(key ^ column) < threshold { 0.0 } else { *x * scale };
            }
        }
    }
}

/// A permutation of the 32-bit numbers that looks like none: two rounds of shift and multiply, with Wellons' constants for `lowbias32`.
#[inline(always)]
const fn hash(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// As [`hash`], of 64 bits: the finalizer of `SplitMix64`.
const fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A rate of dropout is not 0 or more and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WrongRate {
    /// The rate.
    pub found: f32,
}

impl fmt::Display for WrongRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a rate of dropout of 0 or more and below 1 expected, found {}", self.found)
    }
}

impl Error for WrongRate {}
