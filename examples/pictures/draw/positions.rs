//! Where tokens stand: the waves that are added to them, and what rotary positions make of a score.

use super::{Area, COLORS, GREY, INK, Result, between, rectangle, text};
use constformer::{DecoderBlock, Layer, Llama, Name, Scratch, Sequence, SinusoidalPositions, Zero};
use plotters::{prelude::*, style::text_anchor::HPos};

pub(super) const TITLE: &str = "Sinusoidal encodings of 64 positions and 64 features, and rotary scores by distance";

const SIDE: usize = 64;
/// Pixels of a number.
const CELL: i32 = 6;
const PLACE: (i32, i32) = (62, 40);

static POSITIONS: SinusoidalPositions<SIDE, SIDE> = SinusoidalPositions::new();

/// -1 is blue, 0 white, 1 orange.
fn color(value: f32) -> RGBColor {
    let end = if value < 0.0 { COLORS[0] } else { RGBColor(213, 94, 0) };
    between([WHITE, end], value.abs(), 7.0)
}

/// What is added to zeros is the table.
fn heat_map(area: &Area<'_>) -> Result<()> {
    let mut x = Sequence::<SIDE, SIDE>::new();
    x.resize(SIDE)?;
    POSITIONS.forward(&mut x);
    for feature in 0..SIDE {
        let column = || x.tokens().iter().map(|token| color(token[feature]));
        let mut first = 0;
        while let Some(of_first) = column().nth(first) {
            // Neighbours of one colour are one rectangle: a quarter of the file.
            let length = column().skip(first).take_while(|color| *color == of_first).count();
            let corner = (PLACE.0 + CELL * feature as i32, PLACE.1 + CELL * first as i32);
            rectangle(area, corner, (CELL, CELL * length as i32), of_first)?;
            first += length;
        }
    }
    let end = CELL * SIDE as i32;
    text(area, (PLACE.0, 20), "Added to each token: sines and cosines", 16, INK, HPos::Left)?;
    for n in (0..SIDE as i32).step_by(8) {
        let middle = CELL * n + CELL / 2;
        text(area, (PLACE.0 - 6, PLACE.1 + middle), &n.to_string(), 11, GREY, HPos::Right)?;
        text(area, (PLACE.0 + middle, PLACE.1 + end + 10), &n.to_string(), 11, GREY, HPos::Center)?;
    }
    text(area, (PLACE.0 + end / 2, PLACE.1 + end + 28), "feature", 13, INK, HPos::Center)?;
    let style = ("sans-serif", 13).into_font().transform(FontTransform::Rotate270).color(&INK);
    area.draw(&Text::new("position", (16, PLACE.1 + end / 2 + 24), style))?;
    for (i, value) in [-1.0, -0.5, 0.0, 0.5, 1.0_f32].into_iter().enumerate() {
        let x = PLACE.0 + end - 230 + 48 * i as i32;
        rectangle(area, (x, 459), (12, 12), color(value))?;
        area.draw(&Rectangle::new([(x, 459), (x + 12, 471)], GREY.stroke_width(1)))?;
        text(area, (x + 17, 465), &value.to_string(), 11, GREY, HPos::Left)?;
    }
    Ok(())
}

/// Of one head of 8 columns, four pairs: a query and keys that are 1 in the first column of one pair and 0 else, their scores by
/// distance.
fn scores(pair: usize) -> Result<Vec<f32>> {
    let mut block = DecoderBlock::<Llama, 8, 8, 1>::ZERO;
    block.attention_norm.weight = [1.0; 8];
    block.attention.query.weight.set(0, 2 * pair, 1.0);
    block.attention.key.weight.set(0, 2 * pair, 1.0);
    let (mut x, mut scratch) = (Sequence::<8, SIDE>::new(), Scratch::<8, 8, SIDE>::ZERO);
    for _ in 0..SIDE {
        x.push(&[1.0; 8])?;
    }
    let mut scores = vec![];
    block.observe(&mut x, &mut scratch, &Name::ROOT, &mut |name: &Name<'_>, token: usize, values: &[f32]| {
        if token == SIDE - 1 && name.to_string() == "attention.scores.0" {
            scores = values.iter().rev().copied().collect();
        }
    });
    let largest = scores.first().copied().ok_or("the last token has scores")?;
    Ok(scores.iter().map(|score| score / largest).collect())
}

pub(super) fn draw(area: &Area<'_>) -> Result<()> {
    heat_map(area)?;
    let (_, right) = area.split_horizontally(480);
    let mut chart = ChartBuilder::on(&right)
        .margin(8)
        .margin_top(56)
        .margin_bottom(14)
        .x_label_area_size(38)
        .y_label_area_size(46)
        .build_cartesian_2d(0..SIDE, -1.05..1.1)?;
    let mesh = &mut chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(WHITE).x_labels(8).y_labels(5);
    mesh.x_desc("distance of the two tokens").y_desc("score, by that at distance 0").draw()?;
    for (pair, color) in COLORS.into_iter().enumerate() {
        let points = scores(pair)?.into_iter().map(|score| (f64::from(score) * 1000.0).round() / 1000.0).enumerate();
        chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
        // Above the chart, since the first line leaves no room inside.
        let x = 534 + 90 * pair as i32;
        rectangle(area, (x, 43), (14, 4), color)?;
        text(area, (x + 19, 45), &format!("by {}", ["1", "0.1", "0.01", "0.001"][pair]), 12, INK, HPos::Left)?;
    }
    text(area, (526, 20), "Rotary: a pair of columns is turned, radians a token", 16, INK, HPos::Left)
}
