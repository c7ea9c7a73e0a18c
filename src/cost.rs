//! What a model costs, as constants.

use crate::{message::Message, parameters::Parameters, plain::Zero, sequence::Sequence, token_format::TokenFormat};
use core::{fmt, marker::PhantomData};
use zerocopy::FromZeros;

/// Something that runs: what it costs follows from its type.
pub trait Model: Parameters {
    /// Every byte that inference needs besides the weights, for up to `SEQ_LEN` tokens, `TILE` of them at a time.
    type Memory<const SEQ_LEN: usize, const TILE: usize>: Zero + FromZeros;
    /// Multiplications and additions.
    const MACS: Macs;
}

/// The memory of the model `M` for up to `SEQ_LEN` tokens: a `static`, or `boxed` on a host.
///
/// ```
/// use constformer::{Bert, Encoder, Layer, Memory, Zero};
/// use std::sync::Mutex;
///
/// type Model = Encoder<Bert, 2, 64, 256, 4>;
///
/// static MODEL: Model = Model::ZERO; // in flash
/// static MEMORY: Mutex<Memory<Model, 100>> = Mutex::new(Memory::<Model, 100>::ZERO); // in RAM
///
/// let mut memory = MEMORY.lock().unwrap();
/// let Working { stream, scratch } = &mut *memory;
/// # use constformer::Working;
/// stream.push(&[1.0; 64])?;
/// MODEL.forward(stream, scratch);
/// # Ok::<(), constformer::TooLong>(())
/// ```
pub type Memory<M, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }> = <M as Model>::Memory<SEQ_LEN, TILE>;

/// The residual stream, whose tokens are stored as `X`, and the scratch of its layers, `S`.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Working<const D_MODEL: usize, const SEQ_LEN: usize, S, X: TokenFormat = f32> {
    /// What the layers need to work; what it holds before and after does not matter. It comes first, where the memory is aligned:
    /// the stream ends with its length, so nothing after it would be.
    pub scratch: S,
    /// The tokens.
    pub stream: Sequence<D_MODEL, SEQ_LEN, X>,
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, S: Zero, X: TokenFormat> Zero for Working<D_MODEL, SEQ_LEN, S, X> {
    const ZERO: Self = Self { scratch: Zero::ZERO, stream: Zero::ZERO };
}

/// Multiplications with an addition, as a function of the number of tokens: those of the products, which are nearly all.
/// (Norms, activations and softmax are not counted.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macs {
    once: i64,
    token: u64,
    pair: u64,
    causal_pair: u64,
}

impl Macs {
    /// So many, whatever the length: a classifier's head.
    #[must_use]
    pub const fn once(n: u64) -> Self {
        Self { once: n.cast_signed(), token: 0, pair: 0, causal_pair: 0 }
    }

    /// So many for every token but the first: an embedding that puts a class token in front.
    #[must_use]
    pub const fn per_token_but_first(n: u64) -> Self {
        Self { once: -n.cast_signed(), token: n, pair: 0, causal_pair: 0 }
    }

    /// So many for every token.
    #[must_use]
    pub const fn per_token(n: u64) -> Self {
        Self { once: 0, token: n, pair: 0, causal_pair: 0 }
    }

    /// So many for every pair of a token and one that it sees.
    #[must_use]
    pub const fn per_pair(n: u64, causal: bool) -> Self {
        let (pair, causal_pair) = if causal { (0, n) } else { (n, 0) };
        Self { once: 0, token: 0, pair, causal_pair }
    }

    /// Those and these.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            once: self.once + other.once,
            token: self.token + other.token,
            pair: self.pair + other.pair,
            causal_pair: self.causal_pair + other.causal_pair,
        }
    }

    /// `n` times as many.
    #[must_use]
    pub const fn times(self, n: usize) -> Self {
        let n = n as u64;
        Self {
            once: n.cast_signed() * self.once,
            token: n * self.token,
            pair: n * self.pair,
            causal_pair: n * self.causal_pair,
        }
    }

    /// How many for `len` tokens.
    #[must_use]
    pub const fn total(self, len: usize) -> u64 {
        let len = len as u64;
        let many = len * self.token + len * len * self.pair + len * (len + 1) / 2 * self.causal_pair;
        many.saturating_add_signed(self.once)
    }
}

/// The costs of the model `M` for `SEQ_LEN` tokens, as constants.
///
/// ```
/// use constformer::{Encoder, Kwt, Plan};
///
/// type KwsPlan = Plan<Encoder<Kwt, 12, 64, 256, 1>, 99, 4>; // four tokens at a time, as on a microcontroller
///
/// const _: () = assert!(KwsPlan::FLASH <= 2_500_000 && KwsPlan::MACS < 74_000_000);
/// const _: () = KwsPlan::assert_fits(2_500_000, 100_000); // the same with the numbers in the message
/// println!("{}", KwsPlan::new());
/// ```
pub struct Plan<M, const SEQ_LEN: usize, const TILE: usize = { crate::TILE }>(PhantomData<M>);

impl<M: Model, const SEQ_LEN: usize, const TILE: usize> Plan<M, SEQ_LEN, TILE> {
    /// Number of parameters.
    pub const PARAMETERS: usize = M::COUNT;
    /// Bytes of weights.
    pub const FLASH: usize = size_of::<M>();
    /// Bytes of working memory: the stream, and the scratch of all layers. (The stack is small: nothing large is passed by
    /// value.)
    pub const RAM: usize = size_of::<M::Memory<SEQ_LEN, TILE>>();
    /// Multiplications with an addition for one forward pass of `SEQ_LEN` tokens.
    pub const MACS: u64 = M::MACS.total(SEQ_LEN);

    /// The plan as a value, to be printed.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Refuses to compile if the model needs more bytes of flash or of RAM than given.
    ///
    /// # Panics
    ///
    /// If so; in a `const` that is a compile error with the numbers in it.
    pub const fn assert_fits(flash: usize, ram: usize) {
        if Self::FLASH > flash {
            Message::new()
                .text("over budget: the weights take ")
                .number(Self::FLASH)
                .text(" bytes of flash, ")
                .number(flash)
                .text(" allowed")
                .panic();
        }
        if Self::RAM > ram {
            Message::new()
                .text("over budget: the working memory takes ")
                .number(Self::RAM)
                .text(" bytes of RAM, ")
                .number(ram)
                .text(" allowed")
                .panic();
        }
    }
}

impl<M: Model, const SEQ_LEN: usize, const TILE: usize> Default for Plan<M, SEQ_LEN, TILE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Model, const SEQ_LEN: usize, const TILE: usize> fmt::Display for Plan<M, SEQ_LEN, TILE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parameters, flash, ram, macs) = (Self::PARAMETERS, Self::FLASH, Self::RAM, Self::MACS);
        write!(
            f,
            "{parameters} parameters, {flash} bytes of flash, {ram} bytes of RAM and {macs} multiply-adds for \
             {SEQ_LEN} tokens, {TILE} at a time"
        )
    }
}
