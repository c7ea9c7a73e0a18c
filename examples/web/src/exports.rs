//! What JavaScript calls.
//!
//! It is given the reader once, by [`reader`], and hands it to all others. What is returned is where results lie in memory.

#![expect(unsafe_code, reason = "names that JavaScript finds")]

use crate::{
    Reader,
    model::TOKENS,
    reader::{CLASSES, HEADS, LAYERS, PARAMETERS},
};
use static_cell::ConstStaticCell;

static READER: ConstStaticCell<Reader> = ConstStaticCell::new(Reader::NEW);

/// The reader, or null when it has been taken.
#[unsafe(no_mangle)]
extern "C" fn reader() -> Option<&'static mut Reader> {
    READER.try_take()
}

/// How many numbers the model has learnt.
#[unsafe(no_mangle)]
extern "C" fn parameters() -> u32 {
    PARAMETERS as u32
}

/// Takes all strokes away.
#[unsafe(no_mangle)]
extern "C" fn clear(reader: &mut Reader) {
    reader.drawing.clear();
}

/// The pen is at (`x`, `y`), of a square of side 1; it came there on paper, or through the air. Whether there was room for it.
#[unsafe(no_mangle)]
extern "C" fn pen(reader: &mut Reader, x: f32, y: f32, on_paper: bool) -> bool {
    reader.drawing.pen([x, y], on_paper)
}

/// Makes the image of the drawing.
#[unsafe(no_mangle)]
extern "C" fn rasterize(reader: &mut Reader) {
    reader.image = reader.drawing.image();
}

/// Reads the image; whether that was possible.
#[unsafe(no_mangle)]
extern "C" fn read(reader: &mut Reader) -> bool {
    reader.read().is_ok()
}

/// Reads it `times` times, to be timed.
#[unsafe(no_mangle)]
extern "C" fn repeat(reader: &mut Reader, times: u32) -> f32 {
    reader.repeat(times).unwrap_or(f32::NAN)
}

/// 8 x 8 pixels of 0 to 16, row by row: to be read, or written.
#[unsafe(no_mangle)]
extern "C" fn image(reader: &mut Reader) -> &mut [[u8; 8]; 8] {
    &mut reader.image.0
}

/// Scores.
#[unsafe(no_mangle)]
extern "C" fn logits(reader: &Reader) -> &[f32; CLASSES] {
    &reader.logits
}

/// Their softmax.
#[unsafe(no_mangle)]
extern "C" fn probabilities(reader: &Reader) -> &[f32; CLASSES] {
    &reader.probabilities
}

/// By layer, head, token that looks, and token that is looked at.
#[unsafe(no_mangle)]
extern "C" fn attention(reader: &Reader) -> &[[[[f32; TOKENS]; TOKENS]; HEADS]; LAYERS] {
    &reader.attention.0
}
