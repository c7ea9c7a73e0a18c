//! The pictures, and what they share.

#![expect(clippy::cast_possible_wrap, reason = "pictures are small")]

mod attention;
mod plan;
mod positions;

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use std::error::Error;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const INK: RGBColor = RGBColor(34, 34, 34);
const GREY: RGBColor = RGBColor(110, 110, 110);
/// Colours that are told apart by those who do not see all of them (Okabe and Ito).
const COLORS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// Each picture by the name of its file.
pub(crate) fn all() -> Result<[(&'static str, String); 3]> {
    Ok([
        ("positions.svg", picture((900, 480), positions::TITLE, positions::draw)?),
        ("attention_digit.svg", picture((900, 470), attention::TITLE, attention::draw)?),
        ("memory_plan.svg", picture((900, 400), plan::TITLE, plan::draw)?),
    ])
}

/// A picture, with a title for those who have it read to them.
fn picture(size: (u32, u32), title: &str, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    let (opening, rest) = svg.split_once(">\n").ok_or("an SVG begins with a tag")?;
    Ok(format!("{opening} role=\"img\">\n<title>{title}</title>\n{rest}"))
}

/// A rectangle by its corner and its size.
fn rectangle(area: &Area<'_>, (x, y): (i32, i32), (width, height): (i32, i32), color: RGBColor) -> Result<()> {
    area.draw(&Rectangle::new([(x, y), (x + width, y + height)], color.filled()))?;
    Ok(())
}

/// A line of text whose middle, as to its height, is at `y`, and whose left end, middle or right end is at `x`.
fn text(area: &Area<'_>, (x, y): (i32, i32), words: &str, size: i32, color: RGBColor, at: HPos) -> Result<()> {
    let style = ("sans-serif", size).into_font().color(&color).pos(Pos::new(at, VPos::Center));
    area.draw(&Text::new(words, (x, y), style))?;
    Ok(())
}

/// A colour between two, in `steps` steps: few, so that the last bits of a processor's arithmetic are not seen.
fn between([a, b]: [RGBColor; 2], share: f32, steps: f32) -> RGBColor {
    let share = (share.clamp(0.0, 1.0) * steps).round() / steps;
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// 1234567 as 1,234,567.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    (!head.is_empty()).then(|| head.to_string()).into_iter().chain(groups).collect::<Vec<_>>().join(",")
}
