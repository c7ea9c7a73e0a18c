//! The losses as a picture.

use plotters::prelude::*;
use std::{error::Error, path::Path};

/// One point: a step, the loss of training, the loss of validation.
pub(crate) type Point = (u32, f64, f64);

pub(crate) fn draw(points: &[Point], title: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let steps = points.iter().map(|(step, ..)| *step).max().unwrap_or(0).max(1);
    let top = points.iter().fold(0.1, |top: f64, (_, training, validation)| top.max(*training).max(*validation));
    let area = SVGBackend::new(path, (720, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(0..steps, 0.0..1.05 * top)?;
    chart.configure_mesh().x_desc("step").y_desc("loss").draw()?;
    let training = points.iter().map(|(step, loss, _)| (*step, *loss));
    chart
        .draw_series(LineSeries::new(training, BLUE.stroke_width(2)))?
        .label("training")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLUE.stroke_width(2)));
    let validation = points.iter().map(|(step, _, loss)| (*step, *loss));
    chart
        .draw_series(LineSeries::new(validation, RED.stroke_width(2)))?
        .label("validation")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], RED.stroke_width(2)));
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
    area.present()?;
    Ok(())
}
