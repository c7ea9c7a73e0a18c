//! The model and all that it works in.

use crate::{
    Attention, Drawing, Image,
    model::{Digits, TOKENS},
};
use constformer::{InputError, Memory, Plan, Zero, include_model, math, patches};

/// Blocks.
pub const LAYERS: usize = 2;
/// Heads of a block.
pub const HEADS: usize = 4;
/// Digits.
pub const CLASSES: usize = 10;

/// Numbers that it has learnt.
pub const PARAMETERS: usize = Plan::<Digits, TOKENS, TOKENS>::PARAMETERS;

static DIGITS: &Digits = include_model!(Digits, "../../digits/digits.cfm");

/// A drawing, the image that is made of it, and what the model says to that.
pub struct Reader {
    /// Strokes.
    pub drawing: Drawing,
    /// What the model sees.
    pub image: Image,
    /// A score for each digit.
    pub logits: [f32; CLASSES],
    /// Their softmax.
    pub probabilities: [f32; CLASSES],
    /// Of all layers and heads.
    pub attention: Attention,
    memory: Memory<Digits, TOKENS, TOKENS>,
}

impl Reader {
    /// Nothing drawn, nothing read.
    pub const NEW: Self = Self {
        drawing: Drawing::EMPTY,
        image: Image::EMPTY,
        logits: [0.0; CLASSES],
        probabilities: [0.0; CLASSES],
        attention: Attention::NONE,
        memory: Memory::<Digits, TOKENS, TOKENS>::ZERO,
    };

    /// Reads the image, and keeps what is to be shown.
    ///
    /// # Errors
    ///
    /// None: an image is never empty, and always fits.
    pub fn read(&mut self) -> Result<(), InputError> {
        self.logits = DIGITS.observe(&self.image.patches(), &mut self.memory, &mut self.attention)?;
        self.probabilities = self.logits;
        math::softmax(&mut self.probabilities);
        Ok(())
    }

    /// Reads the image `times` times with nobody looking, to be timed; sums the scores of 0, so that nothing can be left out.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn repeat(&mut self, times: u32) -> Result<f32, InputError> {
        let patches = self.image.patches();
        (0..times).try_fold(0.0, |sum, _| Ok(sum + DIGITS.forward(&patches, &mut self.memory)?[0]))
    }
}

impl Image {
    /// As the model was trained: pixels of 0 to 1.
    fn patches(&self) -> [[f32; 4]; 16] {
        patches::<8, 8, 2, 4, 16>(&self.0.map(|row| row.map(|pixel| f32::from(pixel) / 16.0)))
    }
}
