//! Patches of images, frames of sound.

use super::{Embedding, InputError, TrainableEmbedding, resize};
use crate::{
    cost::Macs,
    format::{Format, TrainableFormat},
    kernel::Add,
    linear::Linear,
    message::Message,
    number::Number,
    parameters,
    position::{LearnedPositions, add, assert_room},
    sequence::Sequence,
    shape::{KnownWidth, Width},
    token_format::TokenFormat,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// y₀ = c + u(0), yₚ = W xₚ + b + u(p) for p ≥ 1
///
/// | symbol | shape | is |
/// |---|---|---|
/// | x | (n - 1) x `FEATURES` | patches of an image, frames of a spectrogram; x₁ is the first |
/// | c | `D_MODEL` | [`class_token`](Self::class_token), put in front; a classifier reads its answer there |
/// | W, b | `D_MODEL` x `FEATURES`, `D_MODEL` | [`projection`](Self::projection) |
/// | u | `POSITIONS` x `D_MODEL` | [`positions`](Self::positions), that of the class token included |
/// | y | n x `D_MODEL` | the tokens; n is at most `POSITIONS` |
///
/// Dosovitskiy et al., [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), 2020. PyTorch's `torchvision`:
/// `conv_proj`, `class_token`, `encoder.pos_embedding` of `VisionTransformer`. [`patches`] cuts an image up.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct PatchEmbedding<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format = f32>
where
    Width<FEATURES>: KnownWidth,
{
    /// W, b
    pub projection: Linear<FEATURES, D_MODEL, T>,
    /// c
    pub class_token: [f32; D_MODEL],
    /// u
    pub positions: LearnedPositions<D_MODEL, POSITIONS>,
}

parameters! {
    [const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format]
    PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T> { projection, class_token, positions }
    where { Width<FEATURES>: KnownWidth }
    structure: |fingerprint| fingerprint.name("patch embedding");
}

impl<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: Format> Embedding<D_MODEL>
    for PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T>
where
    Width<FEATURES>: KnownWidth,
{
    type Input = [f32; FEATURES];

    const MACS: Macs = Macs::per_token_but_first((FEATURES * D_MODEL) as u64);

    fn forward<const SEQ_LEN: usize, S: TokenFormat>(
        &self,
        inputs: &[[f32; FEATURES]],
        x: &mut Sequence<D_MODEL, SEQ_LEN, S>,
    ) -> Result<(), InputError> {
        resize(x, inputs.len(), 1)?;
        const { assert_room::<SEQ_LEN, POSITIONS>() };
        S::update(x.stored_mut(), |first, tokens: &mut [[T::Number; D_MODEL]]| {
            self.positions.add(first, tokens);
            let (class, patches) = tokens.split_at_mut_checked(usize::from(first == 0)).unwrap_or_default();
            add(class.as_flattened_mut(), &self.class_token);
            let inputs = inputs.get(first.saturating_sub(1)..).unwrap_or_default();
            T::Number::read(inputs.get(..patches.len()).unwrap_or_default(), |i, inputs| {
                self.projection.multiply(inputs, Add(patches.get_mut(i..).unwrap_or_default()));
            });
        });
        Ok(())
    }
}

/// ∂c = ∂y₀; ∂W = Σₚ ∂yₚ xₚᵀ and ∂b = Σₚ ∂yₚ for p ≥ 1; ∂u(p) = ∂yₚ
impl<const FEATURES: usize, const D_MODEL: usize, const POSITIONS: usize, T: TrainableFormat>
    TrainableEmbedding<D_MODEL> for PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T>
where
    Width<FEATURES>: KnownWidth,
{
    type Gradient = PatchEmbedding<FEATURES, D_MODEL, POSITIONS, T::Gradient>;

    fn backward(&self, inputs: &[[f32; FEATURES]], dy: &mut [[f32; D_MODEL]], gradient: &mut Self::Gradient) {
        gradient.positions.add_gradient(dy);
        let (class, patches) = dy.split_at_checked(1).unwrap_or_default();
        class.iter().for_each(|dy| add(&mut gradient.class_token, dy));
        self.projection.add_gradient(inputs, patches, &mut gradient.projection);
    }
}

/// The patches of `SIDE` x `SIDE` pixels of an image, row by row, each flattened row by row
///
/// `FEATURES` is `SIDE`², and `PATCHES` is `HEIGHT` `WIDTH` / `SIDE`²; other numbers do not compile.
///
/// ```
/// let image = [[0, 1, 2, 3], [4, 5, 6, 7]].map(|row| row.map(|pixel| pixel as f32));
/// let patches = constformer::patches::<2, 4, 2, 4, 2>(&image);
/// assert_eq!(patches, [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]);
/// ```
#[must_use]
pub fn patches<
    const HEIGHT: usize,
    const WIDTH: usize,
    const SIDE: usize,
    const FEATURES: usize,
    const PATCHES: usize,
>(
    image: &[[f32; WIDTH]; HEIGHT],
) -> [[f32; FEATURES]; PATCHES] {
    const {
        let tile = SIDE > 0 && HEIGHT.is_multiple_of(SIDE) && WIDTH.is_multiple_of(SIDE);
        if !tile || FEATURES != SIDE * SIDE || PATCHES != HEIGHT / SIDE * (WIDTH / SIDE) {
            Message::new()
                .number(PATCHES)
                .text(" patches of ")
                .number(FEATURES)
                .text(" features cannot be those of ")
                .number(SIDE)
                .text(" x ")
                .number(SIDE)
                .text(" pixels of an image of ")
                .number(HEIGHT)
                .text(" x ")
                .number(WIDTH)
                .panic();
        }
    }
    let mut patches = [[0.0; FEATURES]; PATCHES];
    for (y, row) in image.iter().enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            patches[y / SIDE * (WIDTH / SIDE) + x / SIDE][y % SIDE * SIDE + x % SIDE] = *pixel;
        }
    }
    patches
}
