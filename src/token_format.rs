//! How the tokens of the residual stream are stored.

use crate::{number::Number, plain::Zero};
use core::fmt::Debug;
use zerocopy::FromZeros;

/// How the tokens of the residual stream are stored, between the layers that add to it: `f32`, as they were computed, or `i8`, a
/// quarter of the memory, or `i32`, fixed-point numbers, as models compute them that are [`IntegerOnly`](crate::IntegerOnly).
///
/// As `i8`, a token is integers of -127 to 127 times a scale of its own, so each layer rounds its features, by max |x| / 254 at most (to 0,
/// if max |x| < 1.5e-36), and by max |x| / 210 if they were fixed-point numbers. It suits Post-LN, whose tokens are normalised; the stream of a deep Pre-LN model has features far greater than
/// others, beside which these are lost.
///
/// A model has it by the format of its weights: see [`Int8Stream`](crate::Int8Stream).
#[diagnostic::on_unimplemented(
    message = "tokens cannot be stored as `{Self}`",
    label = "`f32`, `i8` or `i32` is wanted here"
)]
pub trait TokenFormat: Copy + Debug + Send + Sync + 'static {
    /// A token of `D_MODEL` features.
    type Token<const D_MODEL: usize>: Zero + FromZeros + Copy + Debug + PartialEq + Send + Sync;

    /// The token as it is stored.
    #[doc(hidden)]
    fn store<N: Number, const D_MODEL: usize>(token: &[N; D_MODEL], to: &mut Self::Token<D_MODEL>);

    /// The token as it is computed with.
    #[doc(hidden)]
    fn load<N: Number, const D_MODEL: usize>(token: &Self::Token<D_MODEL>, to: &mut [N; D_MODEL]);

    /// Shows some tokens after the other, and the number of the first, until there are no more.
    #[doc(hidden)]
    fn read<N: Number, const D_MODEL: usize>(tokens: &[Self::Token<D_MODEL>], see: impl FnMut(usize, &[[N; D_MODEL]]));

    /// As [`read`](Self::read), to change them.
    #[doc(hidden)]
    fn update<N: Number, const D_MODEL: usize>(
        tokens: &mut [Self::Token<D_MODEL>],
        change: impl FnMut(usize, &mut [[N; D_MODEL]]),
    );
}

/// Tokens that a tile of can be computed in `N`.
#[diagnostic::on_unimplemented(
    message = "tokens that are stored as `{Self}` are not computed in `{N}`",
    label = "`{N}` or `i8` is wanted here"
)]
pub trait ComputedIn<N: Number>: TokenFormat {
    /// Where a tile of tokens is computed, if that is not where it is stored.
    type Room<const D_MODEL: usize, const TILE: usize>: Zero + FromZeros + Debug + Send;

    /// A tile of tokens, in `room` if need be.
    #[doc(hidden)]
    fn tile<'a, const D_MODEL: usize, const TILE: usize>(
        tokens: &'a mut [Self::Token<D_MODEL>],
        room: &'a mut Self::Room<D_MODEL, TILE>,
    ) -> Tile<'a, Self, N, D_MODEL>;
}

/// A tile of tokens: where they are computed and, if that is somewhere else, where they are to be stored.
#[doc(hidden)]
#[derive(Debug)]
pub struct Tile<'a, S: TokenFormat, N, const D_MODEL: usize> {
    pub(crate) tokens: &'a mut [[N; D_MODEL]],
    stored: &'a mut [S::Token<D_MODEL>],
}

impl<S: TokenFormat, N: Number, const D_MODEL: usize> Tile<'_, S, N, D_MODEL> {
    /// Stores what has been computed.
    pub(crate) fn store(self) {
        for (token, to) in self.tokens.iter().zip(self.stored) {
            S::store(token, to);
        }
    }
}

macro_rules! as_computed {
    ($($number:ty: $from:ident, $to:ident, $read:ident, $update:ident;)*) => { $(
        impl TokenFormat for $number {
            type Token<const D_MODEL: usize> = [Self; D_MODEL];

            fn store<N: Number, const D_MODEL: usize>(token: &[N; D_MODEL], to: &mut [Self; D_MODEL]) {
                to.iter_mut().zip(token).for_each(|(to, x)| *to = x.$to());
            }

            fn load<N: Number, const D_MODEL: usize>(token: &[Self; D_MODEL], to: &mut [N; D_MODEL]) {
                to.iter_mut().zip(token).for_each(|(to, x)| *to = N::$from(*x));
            }

            fn read<N: Number, const D_MODEL: usize>(
                tokens: &[[Self; D_MODEL]],
                see: impl FnMut(usize, &[[N; D_MODEL]]),
            ) {
                N::$read(tokens, see);
            }

            fn update<N: Number, const D_MODEL: usize>(
                tokens: &mut [[Self; D_MODEL]],
                change: impl FnMut(usize, &mut [[N; D_MODEL]]),
            ) {
                N::$update(tokens, change);
            }
        }

        impl ComputedIn<Self> for $number {
            type Room<const D_MODEL: usize, const TILE: usize> = [Self; 0];

            fn tile<'a, const D_MODEL: usize, const TILE: usize>(
                tokens: &'a mut [[Self; D_MODEL]],
                _: &'a mut [Self; 0],
            ) -> Tile<'a, Self, Self, D_MODEL> {
                Tile { tokens, stored: &mut [] }
            }
        }
    )* };
}

as_computed! {
    f32: from_f32, to_f32, read, update;
    i32: from_fixed, to_fixed, read_fixed, update_fixed;
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

impl TokenFormat for i8 {
    type Token<const D_MODEL: usize> = Int8Token<D_MODEL>;

    fn store<N: Number, const D_MODEL: usize>(token: &[N; D_MODEL], to: &mut Int8Token<D_MODEL>) {
        to.scale = N::store(token, &mut to.integers);
    }

    fn load<N: Number, const D_MODEL: usize>(token: &Int8Token<D_MODEL>, to: &mut [N; D_MODEL]) {
        let scale = N::factor(token.scale);
        to.iter_mut().zip(token.integers).for_each(|(x, integer)| *x = N::product(integer.into(), scale));
    }

    fn read<N: Number, const D_MODEL: usize>(
        tokens: &[Int8Token<D_MODEL>],
        mut see: impl FnMut(usize, &[[N; D_MODEL]]),
    ) {
        for (i, token) in tokens.iter().enumerate() {
            let mut x = [[N::ZERO; D_MODEL]];
            Self::load(token, &mut x[0]);
            see(i, &x);
        }
    }

    fn update<N: Number, const D_MODEL: usize>(
        tokens: &mut [Int8Token<D_MODEL>],
        mut change: impl FnMut(usize, &mut [[N; D_MODEL]]),
    ) {
        for (i, token) in tokens.iter_mut().enumerate() {
            let mut x = [[N::ZERO; D_MODEL]];
            Self::load(token, &mut x[0]);
            change(i, &mut x);
            <Self as TokenFormat>::store(&x[0], token);
        }
    }
}

impl<N: Number> ComputedIn<N> for i8 {
    type Room<const D_MODEL: usize, const TILE: usize> = [[N; D_MODEL]; TILE];

    fn tile<'a, const D_MODEL: usize, const TILE: usize>(
        tokens: &'a mut [Int8Token<D_MODEL>],
        room: &'a mut [[N; D_MODEL]; TILE],
    ) -> Tile<'a, Self, N, D_MODEL> {
        let room = room.get_mut(..tokens.len()).unwrap_or_default();
        for (token, x) in tokens.iter().zip(&mut *room) {
            Self::load(token, x);
        }
        Tile { tokens: room, stored: tokens }
    }
}
