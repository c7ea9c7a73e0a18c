//! What KWT-1 takes, in three formats: figures of the types alone, nothing is run.

use super::{Area, COLORS, GREY, INK, Result, grouped, rectangle, text};
use constformer::{
    Classifier, Encoder, FirstToken, Format, Int8, Int8Cache, Int8Stream, KeyValueFormat, Kwt, PatchEmbedding, Plan,
    Sequence, TileScratch,
};
use plotters::{prelude::*, style::text_anchor::HPos};

pub(super) const TITLE: &str = "Flash and working memory of KWT-1 in f32, Int8, and Int8 for memory too";

/// 98 frames and the class token, four at a time.
const TOKENS: usize = 99;
const TILE: usize = 4;

type Kws<T> = Classifier<PatchEmbedding<40, 64, TOKENS, T>, Encoder<Kwt, 12, 64, 256, 1, T>, 64, 12, FirstToken, T>;

struct Figures {
    format: &'static str,
    flash: usize,
    ram: usize,
    /// The stream, keys and values, a tile of all else.
    parts: [usize; 3],
}

macro_rules! figures {
    ($format:ty) => {
        Figures {
            format: stringify!($format),
            flash: Plan::<Kws<$format>, TOKENS, TILE>::FLASH,
            ram: Plan::<Kws<$format>, TOKENS, TILE>::RAM,
            parts: [
                size_of::<Sequence<64, TOKENS, <$format as Format>::Stream>>(),
                size_of::<<<$format as Format>::KeyValues as KeyValueFormat>::KeyValues<64, TOKENS>>(),
                size_of::<
                    TileScratch<64, 256, TOKENS, TILE, <$format as Format>::KeyValues, <$format as Format>::Stream>,
                >(),
            ],
        }
    };
}

const ALL: [Figures; 3] = [figures!(f32), figures!(Int8), figures!(Int8Stream<Int8Cache<Int8>>)];
const PARTS: [&str; 3] = ["tokens between layers", "keys and values", "a tile of everything else"];

const LEFT: i32 = 200;
const WIDTH: i32 = 580;
const BAR: i32 = 26;

/// The length of a bar of `bytes`.
fn length(bytes: usize, longest: usize) -> i32 {
    (bytes as f64 / longest as f64 * f64::from(WIDTH)).round() as i32
}

/// A bar for each format, of parts one after the other, and the sum at its end.
fn bars(area: &Area<'_>, top: i32, bars: [&[usize]; 3], colors: &[RGBColor]) -> Result<()> {
    let longest = bars.iter().map(|parts| parts.iter().sum::<usize>()).max().unwrap_or(1);
    for (i, parts) in bars.into_iter().enumerate() {
        let y = top + (BAR + 10) * i as i32;
        text(area, (LEFT - 10, y + BAR / 2), ALL[i].format, 13, INK, HPos::Right)?;
        let mut sum = 0;
        for (bytes, color) in parts.iter().zip(colors) {
            let from = length(sum, longest);
            sum += bytes;
            let width = length(sum, longest) - from;
            rectangle(area, (LEFT + from, y), (width, BAR), *color)?;
            if parts.len() > 1 && width > 45 {
                let ink = if *color == COLORS[0] { WHITE } else { INK };
                text(area, (LEFT + from + width / 2, y + BAR / 2), &grouped(*bytes), 12, ink, HPos::Center)?;
            }
            area.draw(&PathElement::new([(LEFT + from, y), (LEFT + from, y + BAR)], WHITE.stroke_width(1)))?;
        }
        text(area, (LEFT + length(sum, longest) + 8, y + BAR / 2), &grouped(sum), 13, INK, HPos::Left)?;
    }
    Ok(())
}

pub(super) fn draw(area: &Area<'_>) -> Result<()> {
    for Figures { format, ram, parts, .. } in &ALL {
        if parts.iter().sum::<usize>() != *ram {
            return Err(format!("{format}: parts of {parts:?} bytes are not {ram}").into());
        }
    }
    text(area, (20, 24), "Flash: the weights, in bytes", 16, INK, HPos::Left)?;
    let flash = ALL.each_ref().map(|figures| [figures.flash]);
    bars(area, 48, flash.each_ref().map(|parts| &parts[..]), &[COLORS[3]])?;

    text(area, (20, 196), "RAM: everything that inference writes to but the stack, in bytes", 16, INK, HPos::Left)?;
    let mut x = LEFT;
    for (part, color) in PARTS.into_iter().zip(COLORS) {
        rectangle(area, (x, 218), (13, 13), color)?;
        text(area, (x + 19, 225), part, 13, INK, HPos::Left)?;
        x += 190;
    }
    bars(area, 248, ALL.each_ref().map(|figures| &figures.parts[..]), &COLORS)?;
    let words = "KWT-1: 607,308 parameters, 99 tokens, four at a time. The two groups have scales of their own.";
    text(area, (20, 378), words, 12, GREY, HPos::Left)
}
