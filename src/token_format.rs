//! How the tokens of the residual stream are stored.

use crate::{
    integer::{HIGHEST, greatest_magnitude, nearest, scales},
    plain::Zero,
};
use core::{
    fmt::Debug,
    slice::{from_mut, from_ref},
};
use zerocopy::FromZeros;

/// How the tokens of the residual stream are stored, between the layers that add to it: `f32`, as they were computed, or `i8`, a
/// quarter of the memory.
///
/// As `i8`, a token is integers of -127 to 127 times a scale of its own, so each layer rounds its features, by max |x| / 254 at most (to 0,
/// if max |x| < 1.5e-36). It suits Post-LN, whose tokens are normalised; the stream of a deep Pre-LN model has features far greater than
/// others, beside which these are lost.
///
/// A model has it by the format of its weights: see [`Int8Stream`](crate::Int8Stream).
#[diagnostic::on_unimplemented(message = "tokens cannot be stored as `{Self}`", label = "`f32` or `i8` is wanted here")]
pub trait TokenFormat: Copy + Debug + Send + Sync + 'static {
    /// A token of `D_MODEL` features.
    type Token<const D_MODEL: usize>: Zero + FromZeros + Copy + Debug + PartialEq + Send + Sync;
    /// Where a tile of tokens is computed, if that is not where it is stored.
    type Room<const D_MODEL: usize, const TILE: usize>: Zero + FromZeros + Debug + Send;

    /// The token as it is stored.
    #[doc(hidden)]
    fn store<const D_MODEL: usize>(token: &[f32; D_MODEL], to: &mut Self::Token<D_MODEL>);

    /// The token as it is computed with.
    #[doc(hidden)]
    fn load<const D_MODEL: usize>(token: &Self::Token<D_MODEL>) -> [f32; D_MODEL];

    /// Shows some tokens after the other, and the number of the first, until there are no more.
    #[doc(hidden)]
    fn read<const D_MODEL: usize>(tokens: &[Self::Token<D_MODEL>], see: impl FnMut(usize, &[[f32; D_MODEL]]));

    /// As [`read`](Self::read), to change them.
    #[doc(hidden)]
    fn update<const D_MODEL: usize>(
        tokens: &mut [Self::Token<D_MODEL>],
        change: impl FnMut(usize, &mut [[f32; D_MODEL]]),
    );

    /// A tile of tokens, in `room` if need be.
    #[doc(hidden)]
    fn tile<'a, const D_MODEL: usize, const TILE: usize>(
        tokens: &'a mut [Self::Token<D_MODEL>],
        room: &'a mut Self::Room<D_MODEL, TILE>,
    ) -> Tile<'a, Self, D_MODEL>;
}

/// A tile of tokens: where they are computed and, if that is somewhere else, where they are to be stored.
#[doc(hidden)]
#[derive(Debug)]
pub struct Tile<'a, S: TokenFormat, const D_MODEL: usize> {
    pub(crate) tokens: &'a mut [[f32; D_MODEL]],
    stored: &'a mut [S::Token<D_MODEL>],
}

impl<S: TokenFormat, const D_MODEL: usize> Tile<'_, S, D_MODEL> {
    /// Stores what has been computed.
    pub(crate) fn store(self) {
        for (token, to) in self.tokens.iter().zip(self.stored) {
            S::store(token, to);
        }
    }
}

impl TokenFormat for f32 {
    type Token<const D_MODEL: usize> = [Self; D_MODEL];
    type Room<const D_MODEL: usize, const TILE: usize> = [Self; 0];

    fn store<const D_MODEL: usize>(token: &[Self; D_MODEL], to: &mut [Self; D_MODEL]) {
        *to = *token;
    }

    fn load<const D_MODEL: usize>(token: &[Self; D_MODEL]) -> [Self; D_MODEL] {
        *token
    }

    fn read<const D_MODEL: usize>(tokens: &[[Self; D_MODEL]], mut see: impl FnMut(usize, &[[Self; D_MODEL]])) {
        see(0, tokens);
    }

    fn update<const D_MODEL: usize>(
        tokens: &mut [[Self; D_MODEL]],
        mut change: impl FnMut(usize, &mut [[Self; D_MODEL]]),
    ) {
        change(0, tokens);
    }

    fn tile<'a, const D_MODEL: usize, const TILE: usize>(
        tokens: &'a mut [[Self; D_MODEL]],
        _: &'a mut [Self; 0],
    ) -> Tile<'a, Self, D_MODEL> {
        Tile { tokens, stored: &mut [] }
    }
}

/// A token of integers times a scale.
#[derive(Clone, Copy, Debug, PartialEq, FromZeros)]
#[repr(C)]
pub struct Int8Token<const D_MODEL: usize> {
    scale: f32,
    integers: [i8; D_MODEL],
}

impl<const D_MODEL: usize> Zero for Int8Token<D_MODEL> {
    const ZERO: Self = Self { scale: 0.0, integers: [0; D_MODEL] };
}

impl<const D_MODEL: usize> Int8Token<D_MODEL> {
    fn load(&self, to: &mut [f32; D_MODEL]) {
        for (x, integer) in to.iter_mut().zip(self.integers) {
            *x = f32::from(integer) * self.scale;
        }
    }
}

impl TokenFormat for i8 {
    type Token<const D_MODEL: usize> = Int8Token<D_MODEL>;
    type Room<const D_MODEL: usize, const TILE: usize> = [[f32; D_MODEL]; TILE];

    fn store<const D_MODEL: usize>(token: &[f32; D_MODEL], to: &mut Int8Token<D_MODEL>) {
        let (exact, _) = scales(greatest_magnitude(token.iter().copied()), HIGHEST);
        // Of 16 bits: so 127 times it is exact, and a token that was read is stored as it was.
        let scale = if exact.is_finite() { f32::from_bits((exact.to_bits() + 0x80) & !0xff) } else { exact };
        let (scale, inverse) = if scale < f32::MIN_POSITIVE { (0.0, 0.0) } else { (scale, 1.0 / scale) };
        to.scale = scale;
        to.integers.iter_mut().zip(token).for_each(|(q, x)| *q = nearest(x * inverse) as i8);
    }

    fn load<const D_MODEL: usize>(token: &Int8Token<D_MODEL>) -> [f32; D_MODEL] {
        let mut x = [0.0; D_MODEL];
        token.load(&mut x);
        x
    }

    fn read<const D_MODEL: usize>(tokens: &[Int8Token<D_MODEL>], mut see: impl FnMut(usize, &[[f32; D_MODEL]])) {
        for (i, token) in tokens.iter().enumerate() {
            see(i, from_ref(&<Self as TokenFormat>::load(token)));
        }
    }

    fn update<const D_MODEL: usize>(
        tokens: &mut [Int8Token<D_MODEL>],
        mut change: impl FnMut(usize, &mut [[f32; D_MODEL]]),
    ) {
        for (i, token) in tokens.iter_mut().enumerate() {
            let mut x = <Self as TokenFormat>::load(token);
            change(i, from_mut(&mut x));
            <Self as TokenFormat>::store(&x, token);
        }
    }

    fn tile<'a, const D_MODEL: usize, const TILE: usize>(
        tokens: &'a mut [Int8Token<D_MODEL>],
        room: &'a mut [[f32; D_MODEL]; TILE],
    ) -> Tile<'a, Self, D_MODEL> {
        let room = room.get_mut(..tokens.len()).unwrap_or_default();
        for (token, x) in tokens.iter().zip(&mut *room) {
            token.load(x);
        }
        Tile { tokens: room, stored: tokens }
    }
}
