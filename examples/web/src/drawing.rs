//! Strokes, and the image of 8 x 8 pixels that they are for the model.
//!
//! The images that it has learnt from (see `../digits/ATTRIBUTION.md`) are bitmaps of 32 x 32, in which a digit fills the height, and about
//! 20 of the columns, almost whatever its width was on paper; a pixel is how many of 4 x 4 are black. So it is here.

/// A drawing: strokes of up to 4,096 points.
#[derive(Debug)]
pub struct Drawing {
    points: [Point; 4096],
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    at: [f32; 2],
    /// Whether there is a line from the point before.
    on_paper: bool,
}

/// 8 x 8 pixels of 0 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image(pub [[u8; 8]; 8]);

impl Image {
    /// White.
    pub const EMPTY: Self = Self([[0; 8]; 8]);
}

/// The bitmap's side.
const SIDE: f32 = 32.0;
/// How wide a digit becomes, edge to edge.
const WIDTH: f32 = 20.5;
/// Half of how wide a stroke becomes, whatever the pen. What makes a digit wider makes its strokes wider too.
const RADIUS: f32 = 2.5;
/// How much wider a narrow digit becomes than it was beside its height: an upright 1 stays narrow.
const MOST_STRETCHED: f32 = 1.6;
/// How much narrower a wide one becomes: a dash stays one.
const MOST_SQUEEZED: f32 = 0.5;
/// What is smaller than this is not magnified further: a dot stays one.
const SMALLEST: f32 = 0.15;

impl Drawing {
    /// Nothing drawn.
    #[expect(clippy::large_stack_arrays, reason = "in a static, or for a test")]
    pub const EMPTY: Self = Self { points: [Point { at: [0.0; 2], on_paper: false }; 4096], len: 0 };

    /// Takes all strokes away.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// The pen is at a point of a square of side 1, and there is a line from where it was if it came `on_paper`. Whether there was room.
    pub fn pen(&mut self, at: [f32; 2], on_paper: bool) -> bool {
        let Some(free) = self.points.get_mut(self.len) else { return false };
        *free = Point { at, on_paper: on_paper && self.len > 0 };
        self.len += 1;
        true
    }

    fn points(&self) -> &[Point] {
        self.points.get(..self.len).unwrap_or_default()
    }

    /// What the model sees: the drawing in the middle, as large as digits are there, in strokes of their width.
    #[must_use]
    pub fn image(&self) -> Image {
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for point in self.points() {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(point.at) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        // Of the middle of the strokes; their edges are a radius further out.
        let [width, height] = [high[0] - low[0], high[1] - low[1]];
        let scale = (SIDE - 2.0 * RADIUS) / height.max(SMALLEST);
        let stretch = (WIDTH / (width * scale + 2.0 * RADIUS)).clamp(MOST_SQUEEZED, MOST_STRETCHED);
        let middle = [f32::midpoint(low[0], high[0]), f32::midpoint(low[1], high[1])];
        let mut bitmap = Bitmap { rows: [0; 32], stretch };
        let mut from = [0.0; 2];
        for point in self.points() {
            let to = [(point.at[0] - middle[0]) * scale, (point.at[1] - middle[1]) * scale];
            bitmap.line(if point.on_paper { from } else { to }, to);
            from = to;
        }
        bitmap.image()
    }
}

/// 32 rows of 32 bits.
struct Bitmap {
    rows: [u32; 32],
    /// How many columns one of the drawing's units is; it is one row.
    stretch: f32,
}

impl Bitmap {
    /// Blackens what is no further than a radius from the line between two points, which are given from the middle.
    fn line(&mut self, [ax, ay]: [f32; 2], [bx, by]: [f32; 2]) {
        let (dx, dy) = (bx - ax, by - ay);
        let per_square = 1.0 / (dx * dx + dy * dy).max(f32::MIN_POSITIVE);
        let (top, bottom) = (ay.min(by) - RADIUS, ay.max(by) + RADIUS);
        for (row, bits) in (0_u8..).zip(&mut self.rows) {
            let y = f32::from(row) + 0.5 - SIDE / 2.0;
            if y < top || y > bottom {
                continue;
            }
            for column in 0_u8..32 {
                let x = (f32::from(column) + 0.5 - SIDE / 2.0) / self.stretch;
                // The nearest point of the line is this share of it from its start.
                let share = (((x - ax) * dx + (y - ay) * dy) * per_square).clamp(0.0, 1.0);
                let (x, y) = (x - ax - share * dx, y - ay - share * dy);
                *bits |= u32::from(x * x + y * y <= RADIUS * RADIUS) << column;
            }
        }
    }

    /// How many of 4 x 4 are black.
    fn image(&self) -> Image {
        let mut image = Image::EMPTY;
        for (pixels, rows) in image.0.iter_mut().zip(self.rows.as_chunks::<4>().0) {
            for (column, pixel) in (0_u32..).zip(pixels) {
                *pixel = rows.iter().map(|row| (row >> (4 * column) & 0xf).count_ones() as u8).sum();
            }
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(strokes: &[&[[f32; 2]]]) -> Image {
        let mut drawing = Drawing::EMPTY;
        for stroke in strokes {
            for (i, at) in stroke.iter().enumerate() {
                assert!(drawing.pen(*at, i > 0));
            }
        }
        drawing.image()
    }

    #[test]
    fn nothing() {
        assert_eq!(drawn(&[]), Image::EMPTY);
    }

    /// Where and how large it was drawn does not matter, but for rounding.
    #[test]
    fn place_and_size() {
        let stroke = |x: f32, y: f32, side: f32| [[x, y], [x + side, y], [x + side / 4.0, y + side]];
        let large = drawn(&[&stroke(0.0, 0.0, 1.0)]);
        assert_eq!(drawn(&[&stroke(0.25, 0.5, 0.5)]), large);
        assert_eq!(drawn(&[&stroke(0.125, 0.25, 0.25)]), large);
    }

    #[test]
    fn an_upright_stroke_is_narrow_and_as_tall_as_the_image() {
        let Image(rows) = drawn(&[&[[0.5, 0.2], [0.5, 0.8]]]);
        for row in rows {
            assert!(row[3] > 0 && row[3] == row[4], "in the middle: {rows:?}");
            assert_eq!([row[0], row[1], row[2], row[5], row[6], row[7]], [0; 6], "{rows:?}");
        }
    }

    #[test]
    fn a_dash_is_no_tall_digit_and_a_dot_stays_small() {
        for strokes in [[[0.1, 0.5], [0.9, 0.5]], [[0.5, 0.5], [0.5, 0.5]]] {
            let Image(rows) = drawn(&[&strokes]);
            assert_eq!([rows[0], rows[1], rows[6], rows[7]], [[0; 8]; 4], "{rows:?}");
            assert!(rows[3].iter().any(|pixel| *pixel > 0));
        }
    }

    /// Between strokes there is no line.
    #[test]
    fn strokes_are_apart() {
        let Image(rows) = drawn(&[&[[0.1, 0.0], [0.1, 1.0]], &[[0.8, 0.0], [0.8, 1.0]]]);
        assert!(rows.iter().all(|row| row[3] == 0 && row[4] == 0), "{rows:?}");
    }

    #[test]
    fn full() {
        let mut drawing = Drawing::EMPTY;
        assert!((0..4096).all(|_| drawing.pen([0.5, 0.5], true)));
        assert!(!drawing.pen([0.5, 0.5], true));
        drawing.clear();
        assert_eq!(drawing.image(), Image::EMPTY);
    }
}
