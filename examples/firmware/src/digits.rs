//! What the programs of the example `digits` are given.

use crate::models::{Digits, DigitsMemory};
use constformer::{Zero, include_model, patches};
use static_cell::ConstStaticCell;

/// The model, in flash.
pub static DIGITS: &Digits = include_model!(Digits, "../../digits/digits.cfm");
/// Its working memory, in RAM.
pub static MEMORY: ConstStaticCell<DigitsMemory> = ConstStaticCell::new(DigitsMemory::ZERO);

/// An image, and what it is.
#[derive(Debug)]
pub struct Example {
    pixels: [u8; 64],
    /// The digit.
    pub label: u8,
}

/// The test set: 64 pixels and a label each.
static IMAGES: &[[u8; 65]] = include_bytes!("../../digits/test_images.bin").as_chunks().0;

/// Images that are learnt, of the beginning of the test set.
pub const LEARNT: usize = 64;
/// Images that come after them, to see what has been learnt.
pub const LATER: usize = 64;

/// The first images of the test set.
pub static EXAMPLES: [Example; 5] = {
    let bytes = include_bytes!("../../digits/test_images.bin").as_chunks::<65>().0;
    let mut examples = [const { Example { pixels: [0; 64], label: 0 } }; 5];
    let mut i = 0;
    while i < examples.len() {
        let (pixels, label) = bytes[i].split_first_chunk().unwrap();
        examples[i] = Example { pixels: *pixels, label: label[0] };
        i += 1;
    }
    examples
};

impl Example {
    fn new(bytes: &[u8; 65]) -> Self {
        let (pixels, [label]) = bytes
            .split_first_chunk()
            .map_or((&[0; 64], [0]), |(pixels, label)| (pixels, label.first_chunk().copied().unwrap_or_default()));
        Self { pixels: *pixels, label }
    }

    /// Those that are learnt.
    pub fn learnt() -> impl Iterator<Item = Self> {
        IMAGES.iter().take(LEARNT).map(Self::new)
    }

    /// Those that come after them.
    pub fn later() -> impl Iterator<Item = Self> {
        IMAGES.iter().skip(LEARNT).take(LATER).map(Self::new)
    }

    /// The patches of the image as it is in a mirror.
    #[must_use]
    pub fn mirrored(&self) -> [[f32; 4]; 16] {
        let mut mirrored = Self { pixels: self.pixels, label: self.label };
        mirrored.pixels.as_chunks_mut::<8>().0.iter_mut().for_each(|row| row.reverse());
        mirrored.patches()
    }

    /// The patches of the image.
    #[must_use]
    pub fn patches(&self) -> [[f32; 4]; 16] {
        let mut image = [[0.0; 8]; 8];
        for (pixel, byte) in image.as_flattened_mut().iter_mut().zip(&self.pixels) {
            *pixel = f32::from(*byte) / 16.0;
        }
        patches::<8, 8, 2, 4, 16>(&image)
    }
}
