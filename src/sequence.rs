//! The residual stream: tokens in a row.

use crate::{norm::Norm, number::Number, plain::Zero, token_format::TokenFormat};
use core::{error::Error, fmt};
use nalgebra::{Const, Dyn, MatrixView, MatrixViewMut, SMatrix, U1};
use zerocopy::FromZeros;

/// Up to `SEQ_LEN` tokens of `D_MODEL` features, `len()` of them in use.
///
/// `SEQ_LEN` is a capacity, as in `heapless::Vec`: layers neither read nor write what lies beyond the tokens in use, so
/// padding costs no time and cannot change a result. PyTorch: `[seq_len, d_model]`; `nalgebra`: a matrix of `D_MODEL` rows
/// with one column per token, see [`matrix`](Self::matrix).
///
/// ```
/// use constformer::Sequence;
///
/// let mut x = Sequence::<4, 8>::new(); //  D_MODEL, SEQ_LEN
/// x.push(&[1.0, 2.0, 3.0, 4.0])?;
/// x.push(&[5.0, 6.0, 7.0, 8.0])?;
/// assert_eq!((x.len(), x.matrix().ncols()), (2, 2));
/// assert_eq!(x.matrix()[(3, 1)], 8.0);
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[derive(Clone, Debug, FromZeros)]
pub struct Sequence<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat = f32> {
    tokens: [S::Token<D_MODEL>; SEQ_LEN],
    len: u32, // so that its size is the same on a host and on a microcontroller
}

/// The tokens in use, one a column, where they lie.
pub type Tokens<'a, const D_MODEL: usize> = MatrixView<'a, f32, Const<D_MODEL>, Dyn, U1, Const<D_MODEL>>;
/// The tokens in use, one a column, where they lie, to change them.
pub type TokensMut<'a, const D_MODEL: usize> = MatrixViewMut<'a, f32, Const<D_MODEL>, Dyn, U1, Const<D_MODEL>>;

impl<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat> Sequence<D_MODEL, SEQ_LEN, S> {
    /// The most tokens it can hold.
    pub const CAPACITY: usize = SEQ_LEN;

    /// No tokens.
    #[must_use]
    pub const fn new() -> Self {
        Self::ZERO
    }

    /// Number of tokens.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no token.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all tokens.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Sets the number of tokens; new ones are zeros.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if `len` is more than `SEQ_LEN`; then nothing is changed.
    pub fn resize(&mut self, len: usize) -> Result<(), TooLong> {
        TooLong::check::<SEQ_LEN>(len)?;
        let old = self.len();
        if let Some(new) = self.tokens.get_mut(old..len) {
            new.fill(Zero::ZERO);
        }
        self.len = len as u32;
        Ok(())
    }

    /// As many tokens as `other` has, with any content.
    pub(crate) const fn match_len<const OTHER: usize>(&mut self, other: &Sequence<OTHER, SEQ_LEN, S>) {
        self.len = other.len;
    }

    /// Appends a token.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are `SEQ_LEN` already; then nothing is changed.
    pub fn push(&mut self, token: &[f32; D_MODEL]) -> Result<(), TooLong> {
        let len = self.len();
        let place = self.tokens.get_mut(len).ok_or(TooLong { capacity: SEQ_LEN, found: len + 1 })?;
        S::store(token, place);
        self.len += 1;
        Ok(())
    }

    /// Becomes these tokens.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if there are more than `SEQ_LEN`; then nothing is changed.
    pub fn assign(&mut self, tokens: &[[f32; D_MODEL]]) -> Result<(), TooLong> {
        let found = tokens.len();
        let places = self.tokens.get_mut(..found).ok_or(TooLong { capacity: SEQ_LEN, found })?;
        tokens.iter().zip(places).for_each(|(token, place)| S::store(token, place));
        self.len = found as u32;
        Ok(())
    }

    /// The token at `position`, the first being at 0; `None` if there are fewer.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<[f32; D_MODEL]> {
        self.load(position)
    }

    /// The last token; `None` if there is none.
    #[must_use]
    pub fn last(&self) -> Option<[f32; D_MODEL]> {
        self.load(self.len().wrapping_sub(1))
    }

    /// Shows some tokens after the other, and the number of the first, until there are no more: all at once, if they are `f32`.
    pub fn read(&self, see: impl FnMut(usize, &[[f32; D_MODEL]])) {
        S::read(self.stored(), see);
    }

    /// As [`read`](Self::read), to change them.
    pub fn update(&mut self, change: impl FnMut(usize, &mut [[f32; D_MODEL]])) {
        S::update(self.stored_mut(), change);
    }

    /// The token at `position`, as it is computed with.
    pub(crate) fn load<N: Number>(&self, position: usize) -> Option<[N; D_MODEL]> {
        let mut token = [N::ZERO; D_MODEL];
        S::load(self.stored().get(position)?, &mut token);
        Some(token)
    }

    /// Replaces every token by its normalisation, computed in `N`.
    pub(crate) fn normalize<N: Number>(&mut self, norm: &impl Norm<D_MODEL>) {
        S::update(self.stored_mut(), |_, tokens| N::normalize(norm, tokens));
    }

    /// The tokens, in order, as they are stored.
    pub(crate) fn stored(&self) -> &[S::Token<D_MODEL>] {
        &self.tokens[..self.len().min(SEQ_LEN)]
    }

    /// The tokens, in order, as they are stored, to change them.
    pub(crate) fn stored_mut(&mut self) -> &mut [S::Token<D_MODEL>] {
        let len = self.len().min(SEQ_LEN);
        &mut self.tokens[..len]
    }
}

impl<const D_MODEL: usize, const SEQ_LEN: usize> Sequence<D_MODEL, SEQ_LEN> {
    /// The tokens, in order.
    #[must_use]
    pub fn tokens(&self) -> &[[f32; D_MODEL]] {
        self.stored()
    }

    /// The tokens, in order, to change them.
    pub fn tokens_mut(&mut self) -> &mut [[f32; D_MODEL]] {
        self.stored_mut()
    }

    /// The tokens as a matrix of `nalgebra`, one a column, without a copy.
    #[must_use]
    pub fn matrix(&self) -> Tokens<'_, D_MODEL> {
        MatrixView::from_slice_generic(self.tokens().as_flattened(), Const, Dyn(self.len()))
    }

    /// The tokens as a matrix of `nalgebra`, one a column, to change them without a copy.
    pub fn matrix_mut(&mut self) -> TokensMut<'_, D_MODEL> {
        let len = self.len();
        MatrixViewMut::from_slice_generic(self.tokens_mut().as_flattened_mut(), Const, Dyn(len))
    }
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat> Zero for Sequence<D_MODEL, SEQ_LEN, S> {
    const ZERO: Self = Self { tokens: Zero::ZERO, len: 0 };
}

impl<const D_MODEL: usize, const SEQ_LEN: usize, S: TokenFormat> Default for Sequence<D_MODEL, SEQ_LEN, S> {
    fn default() -> Self {
        Self::ZERO
    }
}

/// The tokens in use are the same; what lies beyond them does not matter, and neither does the capacity.
impl<const D_MODEL: usize, const SEQ_LEN: usize, const OTHER: usize, S: TokenFormat>
    PartialEq<Sequence<D_MODEL, OTHER, S>> for Sequence<D_MODEL, SEQ_LEN, S>
{
    fn eq(&self, other: &Sequence<D_MODEL, OTHER, S>) -> bool {
        self.stored() == other.stored()
    }
}

/// One token a column; the numbers stay where they are in the matrix.
impl<const D_MODEL: usize, const SEQ_LEN: usize> From<SMatrix<f32, D_MODEL, SEQ_LEN>> for Sequence<D_MODEL, SEQ_LEN> {
    fn from(matrix: SMatrix<f32, D_MODEL, SEQ_LEN>) -> Self {
        Self { tokens: matrix.data.0, len: SEQ_LEN as u32 }
    }
}

#[cfg(feature = "defmt")]
impl<const D_MODEL: usize, const SEQ_LEN: usize> defmt::Format for Sequence<D_MODEL, SEQ_LEN> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", self.tokens());
    }
}

/// A sequence was given more tokens than it has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TooLong {
    /// The most tokens there is room for.
    pub capacity: usize,
    /// How many there were.
    pub found: usize,
}

impl TooLong {
    /// An error if `CAPACITY` has no room for `found` tokens.
    pub(crate) const fn check<const CAPACITY: usize>(found: usize) -> Result<(), Self> {
        if found > CAPACITY { Err(Self { capacity: CAPACITY, found }) } else { Ok(()) }
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens, where there is room for {}", self.found, self.capacity)
    }
}

impl Error for TooLong {}

/// A sequence has no token where there must be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Empty;

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no tokens, where there must be one at least")
    }
}

impl Error for Empty {}
