//! Two charts: gradients by layer, losses by step.

use crate::Study;
use plotters::{coord::Shift, prelude::*};
use std::{error::Error, path::Path};

const COLORS: [RGBColor; 2] = [RED, BLUE];

/// A line for each study.
fn chart(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    [title, x, y]: [&str; 3],
    lines: &[(&str, Vec<f64>)],
) -> Result<(), Box<dyn Error>> {
    let length = lines.iter().map(|(_, line)| line.len()).max().unwrap_or(1);
    let top = lines.iter().flat_map(|(_, line)| line).fold(1e-9, |top: f64, y| top.max(*y));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d(0..length.saturating_sub(1), 0.0..1.05 * top)?;
    chart.configure_mesh().x_desc(x).y_desc(y).draw()?;
    for ((name, line), color) in lines.iter().zip(COLORS) {
        let points = line.iter().copied().enumerate();
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
    Ok(())
}

pub(crate) fn draw(studies: &[Study], path: &Path) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (960, 380)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(480);
    let gradients: Vec<_> = studies.iter().map(|study| (study.name, study.gradients.clone())).collect();
    chart(&left, ["Gradients when training starts", "layer", "norm"], &gradients)?;
    let losses: Vec<_> = studies.iter().map(|study| (study.name, study.losses.clone())).collect();
    chart(&right, ["Training without a warm-up", "step", "loss"], &losses)?;
    area.present()?;
    Ok(())
}
