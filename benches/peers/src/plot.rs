//! Reports as pictures.

use crate::{growth::Series, report::Report, table::names};
use plotters::{coord::Shift, prelude::*};
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const FONT: &str = "sans-serif";

fn area(path: &Path, size: (u32, u32)) -> Result<DrawingArea<SVGBackend<'_>, Shift>> {
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&WHITE)?;
    Ok(area)
}

/// Bars: the time of each framework by ours, workload by workload.
///
/// # Errors
///
/// If the file cannot be written.
pub fn ratios(report: &Report, path: &Path) -> Result<()> {
    let names = names(report);
    let width = names.len() as f64 + 1.0;
    let end = report.rows.len() as f64 * width;
    let ratios = report.rows.iter().flat_map(|row| row.times.iter().map(|time| time.ratio));
    let top = ratios.fold(4.0, f64::max).min(6.0);
    let area = area(path, (1000, 420))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("time by constformer's, {} pages (lower is faster)", report.pages), (FONT, 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    let label = |x: &f64| {
        let row = report.rows.get((x / width) as usize);
        row.map_or(String::new(), |row| row.workload.clone())
    };
    chart.configure_mesh().disable_x_mesh().disable_x_axis().y_labels(7).draw()?;
    for (index, name) in names.iter().enumerate() {
        let color = Palette99::pick(index).to_rgba();
        let bars = report.rows.iter().enumerate().filter_map(|(row, measured)| {
            let time = measured.times.iter().find(|time| time.name == **name)?;
            let x = row as f64 * width + index as f64;
            Some((x, time.ratio))
        });
        let bars: Vec<(f64, f64)> = bars.collect();
        let rectangles = bars.iter().map(|(x, y)| Rectangle::new([(*x, 0.0), (x + 0.9, y.min(top))], color.filled()));
        chart
            .draw_series(rectangles)?
            .label(*name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], color.filled()));
        let beyond = bars.iter().filter(|(_, y)| *y > top);
        chart.draw_series(beyond.map(|(x, y)| Text::new(format!("{y:.0}"), (*x, top), (FONT, 12))))?;
    }
    let texts = (0..report.rows.len()).map(|row| {
        let x = row as f64 * width;
        Text::new(label(&x), (x, -0.08 * top / 4.0), (FONT, 14))
    });
    chart.draw_series(texts)?;
    chart.draw_series(LineSeries::new([(0.0, 1.0), (end, 1.0)], BLACK))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .label_font((FONT, 13))
        .draw()?;
    area.present()?;
    Ok(())
}

/// Lines: our rate as a part of the peak, for what grows.
///
/// # Errors
///
/// If the file cannot be written.
pub fn growth(series: &[Series], gflops: f64, path: &Path) -> Result<()> {
    let area = area(path, (1000, 320))?;
    for (area, Series { what, fixed, points }) in area.split_evenly((1, series.len())).iter().zip(series) {
        let first = points.first().map_or(1, |point| point.0) as f64;
        let last = points.last().map_or(2, |point| point.0) as f64;
        let mut chart = ChartBuilder::on(area)
            .caption(fixed, (FONT, 15))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(45)
            .build_cartesian_2d((first..last).log_scale(), 0.0..100.0)?;
        chart.configure_mesh().x_desc(what).y_desc("% of peak").x_label_formatter(&|x| format!("{x:.0}")).draw()?;
        let points = points.iter().map(|(n, shape, ms)| (*n as f64, 2e-4 * shape.macs() as f64 / ms / gflops));
        let points: Vec<(f64, f64)> = points.collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), BLUE.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, BLUE.filled())))?;
    }
    area.present()?;
    Ok(())
}
