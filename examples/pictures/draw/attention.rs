//! Where the class token of the example `digits` looks.

#[path = "../../digits/model.rs"]
mod model;

use super::{Area, COLORS, GREY, INK, Result, between, rectangle, text};
use constformer::{Memory, Name, boxed, include_model, patches};
use model::{Digits, TOKENS};
use plotters::{prelude::*, style::text_anchor::HPos};

pub(super) const TITLE: &str =
    "A handwritten digit, and the patches that the class token attends to, by layer and head";

static DIGITS: &Digits = include_model!(Digits, "../../digits/digits.cfm");
static IMAGES: &[u8] = include_bytes!("../../digits/test_images.bin");

/// The picture shows the first test image of this digit.
const DIGIT: u8 = 3;
const LAYERS: usize = 2;
const HEADS: usize = 4;
/// The weight of the darkest colour.
const MOST: f32 = 0.4;

/// The weights of the class token for all tokens, by layer and head.
type Weights = [[[f32; TOKENS]; HEADS]; LAYERS];

fn attend(image: &[[f32; 8]; 8]) -> Result<(Weights, usize)> {
    let mut weights: Weights = Default::default();
    let mut see = |name: &Name<'_>, token: usize, values: &[f32]| {
        let name = name.to_string();
        let place = name.strip_prefix("encoder.blocks.").and_then(|rest| rest.split_once(".attention.weights."));
        if let (0, Some((layer, head))) = (token, place)
            && let (Ok(layer), Ok(head)) = (layer.parse::<usize>(), head.parse::<usize>())
        {
            weights[layer][head].copy_from_slice(values);
        }
    };
    let mut memory = boxed::<Memory<Digits, TOKENS>>();
    let logits = DIGITS.observe(&patches::<8, 8, 2, 4, 16>(image), &mut memory, &mut see)?;
    let answer = (0..10).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap_or_default();
    Ok((weights, answer))
}

fn heat(weight: f32) -> RGBColor {
    between([WHITE, RGBColor(213, 94, 0)], weight / MOST, 10.0)
}

/// An 8 x 8 image as dots, larger where there is more ink, of the radius `most` at most.
fn dots(area: &Area<'_>, (x, y): (i32, i32), image: &[[f32; 8]; 8], cell: i32, most: f32) -> Result<()> {
    for (row, line) in image.iter().enumerate() {
        for (column, ink) in line.iter().enumerate() {
            let radius = (ink.sqrt() * most).round() as i32;
            if radius > 1 {
                let middle = (x + cell * column as i32 + cell / 2, y + cell * row as i32 + cell / 2);
                area.draw(&Circle::new(middle, radius, INK.filled()))?;
            }
        }
    }
    Ok(())
}

/// The four-by-four patches of one head, the digit over them, and what the class token keeps for itself.
fn panel(area: &Area<'_>, (x, y): (i32, i32), weights: &[f32; TOKENS], image: &[[f32; 8]; 8]) -> Result<()> {
    const PATCH: i32 = 36;
    let (own, of_patches) = (weights[0], &weights[1..]);
    for (i, weight) in of_patches.iter().enumerate() {
        let corner = (x + PATCH * (i as i32 % 4), y + PATCH * (i as i32 / 4));
        rectangle(area, corner, (PATCH, PATCH), heat(*weight))?;
    }
    dots(area, (x, y), image, PATCH / 2, 4.5)?;
    area.draw(&Rectangle::new([(x, y), (x + 4 * PATCH, y + 4 * PATCH)], GREY.stroke_width(1)))?;
    rectangle(area, (x, y + 4 * PATCH + 7), (14, 14), heat(own))?;
    area.draw(&Rectangle::new([(x, y + 4 * PATCH + 7), (x + 14, y + 4 * PATCH + 21)], GREY.stroke_width(1)))?;
    text(area, (x + 20, y + 4 * PATCH + 14), &format!("itself {:.0} %", own * 100.0), 12, INK, HPos::Left)
}

pub(super) fn draw(area: &Area<'_>) -> Result<()> {
    let bytes = IMAGES.as_chunks::<65>().0.iter().find(|bytes| bytes[64] == DIGIT).ok_or("there is such a digit")?;
    let image = std::array::from_fn(|y| std::array::from_fn(|x| f32::from(bytes[8 * y + x]) / 16.0));
    let (weights, answer) = attend(&image)?;

    text(area, (20, 24), "The image", 16, INK, HPos::Left)?;
    dots(area, (20, 66), &image, 18, 7.5)?;
    area.draw(&Rectangle::new([(20, 66), (164, 210)], GREY.stroke_width(1)))?;
    for i in 1..4 {
        let at = 36 * i;
        area.draw(&PathElement::new([(20 + at, 66), (20 + at, 210)], COLORS[0].stroke_width(1)))?;
        area.draw(&PathElement::new([(20, 66 + at), (164, 66 + at)], COLORS[0].stroke_width(1)))?;
    }
    text(area, (20, 228), "8 x 8 pixels, 16 patches", 12, INK, HPos::Left)?;
    text(area, (20, 246), &format!("read as {answer}"), 12, INK, HPos::Left)?;

    text(area, (20, 300), "Weight of a token", 13, INK, HPos::Left)?;
    for i in 0..5 {
        let (y, weight) = (316 + 20 * i, MOST * i as f32 / 4.0);
        rectangle(area, (20, y), (14, 14), heat(weight))?;
        area.draw(&Rectangle::new([(20, y), (34, y + 14)], GREY.stroke_width(1)))?;
        let words = format!("{:.0} %{}", weight * 100.0, if i == 4 { " and more" } else { "" });
        text(area, (42, y + 7), &words, 12, INK, HPos::Left)?;
    }

    text(area, (236, 24), "What the class token attends to", 16, INK, HPos::Left)?;
    for (layer, heads) in weights.iter().enumerate() {
        for (head, weights) in heads.iter().enumerate() {
            let (x, y) = (236 + 166 * head as i32, 66 + 206 * layer as i32);
            text(area, (x, y - 12), &format!("layer {layer}, head {head}"), 13, INK, HPos::Left)?;
            panel(area, (x, y), weights, &image)?;
        }
    }
    Ok(())
}
