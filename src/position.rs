//! Where a token stands: vectors added to the tokens, since attention alone does not see their order.

use crate::{
    math::{power_of_ten, sin_cos},
    message::Message,
    number::Number,
    parameters,
    parameters::Table,
    sequence::Sequence,
};
use core::{error::Error, fmt};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// yₚ = xₚ + wₚ, p being the position of the token
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | n x `D_MODEL` | the tokens, before and after |
/// | w | `POSITIONS` x `D_MODEL` | [`weight`](Self::weight), learned; n is at most `POSITIONS` |
///
/// Gehring et al., [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122), 2017; BERT, GPT-2, ViT.
/// PyTorch: an `nn.Embedding(POSITIONS, D_MODEL)` of 0, 1, 2, ...
///
/// A sequence with room for more tokens than there are positions does not compile:
///
/// ```compile_fail
/// use constformer::{LearnedPositions, Sequence, Zero};
///
/// LearnedPositions::<4, 8>::ZERO.forward(&mut Sequence::<4, 9>::new());
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LearnedPositions<const D_MODEL: usize, const POSITIONS: usize> {
    /// w
    pub weight: Table<POSITIONS, D_MODEL>,
}

parameters! { [const D_MODEL: usize, const POSITIONS: usize] LearnedPositions<D_MODEL, POSITIONS> { weight }
    structure: |fingerprint| fingerprint.name("learned positions");
}

impl<const D_MODEL: usize, const POSITIONS: usize> LearnedPositions<D_MODEL, POSITIONS> {
    /// Adds to the tokens the vectors of the positions from `first` on, as far as there are any.
    pub(crate) fn add<N: Number>(&self, first: usize, tokens: &mut [[N; D_MODEL]]) {
        add_rows(self.weight.rows.get(first..).unwrap_or_default(), tokens);
    }

    /// ∂wₚ = ∂wₚ + ∂yₚ, where this is the gradient, and the token of the first `dy` is at position 0.
    pub fn add_gradient(&mut self, dy: &[[f32; D_MODEL]]) {
        self.weight.rows.iter_mut().zip(dy).for_each(|(row, dy)| add(row, dy));
    }

    /// Adds its position to every token.
    pub fn forward<const SEQ_LEN: usize>(&self, x: &mut Sequence<D_MODEL, SEQ_LEN>) {
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        add_rows(&self.weight.rows, x.tokens_mut());
    }

    /// Adds their positions to tokens of which the first is at `position`.
    ///
    /// # Errors
    ///
    /// [`NoPosition`] if there are not so many positions; then nothing is changed.
    pub fn forward_at<const SEQ_LEN: usize>(
        &self,
        position: usize,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), NoPosition> {
        add_at(&self.weight.rows, position, x)
    }
}

/// yₚ = xₚ + wₚ with w(p, 2i) = sin(p / 10000^(2i / `D_MODEL`)), w(p, 2i + 1) = cos(p / 10000^(2i / `D_MODEL`))
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x, y | n x `D_MODEL` | the tokens, before and after |
/// | w | `POSITIONS` x `D_MODEL` | a table, computed at compile time to 1e-7; n is at most `POSITIONS` |
/// | p | 1 | the position of the token, from 0 |
/// | i | 1 | 0, 1, 2, ...; of an odd `D_MODEL`, the last feature is a sine without its cosine |
///
/// Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017, section 3.5. PyTorch has no module
/// for it. A table of more than a million entries takes rustc some seconds, and wants
/// `#![allow(long_running_const_eval)]` in the crate that has it.
///
/// ```
/// use constformer::{Sequence, SinusoidalPositions};
///
/// static POSITIONS: SinusoidalPositions<4, 8> = SinusoidalPositions::new(); // in flash
/// let mut x = Sequence::<4, 8>::new();
/// x.push(&[0.0; 4])?;
/// POSITIONS.forward(&mut x);
/// assert_eq!(x.tokens(), [[0.0, 1.0, 0.0, 1.0]]);
/// # Ok::<(), constformer::TooLong>(())
/// ```
#[derive(Clone, Debug)]
pub struct SinusoidalPositions<const D_MODEL: usize, const POSITIONS: usize> {
    table: [[f32; D_MODEL]; POSITIONS],
}

impl<const D_MODEL: usize, const POSITIONS: usize> SinusoidalPositions<D_MODEL, POSITIONS> {
    /// As [`LearnedPositions::add`].
    pub(crate) fn add<N: Number>(&self, first: usize, tokens: &mut [[N; D_MODEL]]) {
        add_rows(self.table.get(first..).unwrap_or_default(), tokens);
    }

    /// The table. Make it a `static` or a `const`, so that it is computed at compile time.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "`default()` could not be a constant")]
    pub const fn new() -> Self {
        let mut table = [[0.0; D_MODEL]; POSITIONS];
        let mut column = 0;
        while column < D_MODEL {
            let even = column / 2 * 2;
            let (sin_step, cos_step) = sin_cos(power_of_ten(-4.0 * even as f64 / D_MODEL as f64));
            // The angle of the next position is one step further: sine and cosine of a sum, since a series for each of a
            // million entries would take the compiler a minute.
            let (mut sin, mut cos, mut position) = (0.0, 1.0, 0);
            while position < POSITIONS {
                table[position][column] = if column == even { sin as f32 } else { cos as f32 };
                (sin, cos) = (sin * cos_step + cos * sin_step, cos * cos_step - sin * sin_step);
                position += 1;
            }
            column += 1;
        }
        Self { table }
    }

    /// Adds its position to every token.
    pub fn forward<const SEQ_LEN: usize>(&self, x: &mut Sequence<D_MODEL, SEQ_LEN>) {
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        add_rows(&self.table, x.tokens_mut());
    }

    /// Adds their positions to tokens of which the first is at `position`.
    ///
    /// # Errors
    ///
    /// [`NoPosition`] if there are not so many positions; then nothing is changed.
    pub fn forward_at<const SEQ_LEN: usize>(
        &self,
        position: usize,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
    ) -> Result<(), NoPosition> {
        add_at(&self.table, position, x)
    }
}

/// Refuses to compile a sequence that has room for more tokens than there are positions.
pub(crate) const fn assert_room<const SEQ_LEN: usize, const POSITIONS: usize>() {
    if SEQ_LEN > POSITIONS {
        Message::new()
            .text("the sequence has room for ")
            .number(SEQ_LEN)
            .text(" tokens, but there are ")
            .number(POSITIONS)
            .text(" positions")
            .panic();
    }
}

/// Adds the rows of the table from `position` on, if there are so many.
fn add_at<const D_MODEL: usize, const SEQ_LEN: usize, const POSITIONS: usize>(
    table: &[[f32; D_MODEL]; POSITIONS],
    position: usize,
    x: &mut Sequence<D_MODEL, SEQ_LEN>,
) -> Result<(), NoPosition> {
    NoPosition::check::<POSITIONS>(position, x.len())?;
    add_rows(table.get(position..).unwrap_or_default(), x.tokens_mut());
    Ok(())
}

fn add_rows<N: Number, const D_MODEL: usize>(table: &[[f32; D_MODEL]], x: &mut [[N; D_MODEL]]) {
    for (x, position) in x.iter_mut().zip(table) {
        add(x, position);
    }
}

/// x = x + y
pub(crate) fn add<N: Number>(x: &mut [N], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = x.plus(N::from_f32(*y));
    }
}

/// A token stands where there is no position any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoPosition {
    /// Where the last of the tokens stands, from 0.
    pub position: usize,
    /// Number of positions.
    pub positions: usize,
}

impl NoPosition {
    /// An error if there are not `count` positions from `first` on.
    pub(crate) const fn check<const POSITIONS: usize>(first: usize, count: usize) -> Result<(), Self> {
        let end = first.saturating_add(count);
        if end > POSITIONS { Err(Self { position: end.saturating_sub(1), positions: POSITIONS }) } else { Ok(()) }
    }
}

impl fmt::Display for NoPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a token at position {}, where there are {} positions, the first being 0",
            self.position, self.positions
        )
    }
}

impl Error for NoPosition {}
