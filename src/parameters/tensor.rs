//! One tensor of a model: its name, its shape, its numbers.

use core::fmt;

/// The path of a tensor, `encoder.blocks.3.attention.query.weight`, without a heap: each part lies on the stack of the
/// walk that visits it.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    parent: Option<&'a Name<'a>>,
    part: Part<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Root,
    Field(&'a str),
    Index(usize),
}

impl<'a> Name<'a> {
    /// The empty path.
    pub const ROOT: Self = Self { parent: None, part: Part::Root };

    /// The path of a field below this one.
    #[must_use]
    pub const fn field(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), part: Part::Field(name) }
    }

    /// The path of an element below this one.
    #[must_use]
    pub const fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), part: Part::Index(index) }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            if !matches!(parent.part, Part::Root) {
                f.write_str(".")?;
            }
        }
        match self.part {
            Part::Root => Ok(()),
            Part::Field(name) => f.write_str(name),
            Part::Index(index) => write!(f, "{index}"),
        }
    }
}

/// The shape of a tensor, as PyTorch has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[n]`: a bias, the gain of a norm.
    Vector([usize; 1]),
    /// `[rows, columns]`: an embedding table; the weight of a linear map, which is `[out_features, in_features]`.
    Matrix([usize; 2]),
}

impl Shape {
    /// The lengths of the dimensions.
    #[must_use]
    pub const fn dimensions(&self) -> &[usize] {
        match self {
            Self::Vector(n) => n,
            Self::Matrix(n) => n,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.dimensions(), f)
    }
}

/// The order in which a tensor's numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    RowMajor,
    Panels,
}

/// A tensor of a model, `S` being `&[f32]` or `&mut [f32]`.
///
/// [`stored`](Self::stored) is as it lies in memory, which is what an optimizer or an image needs; [`get`](Self::get) and
/// [`set`](Self::set) go by row and column, whatever the order of storage, which is what a checkpoint needs.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<S> {
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    pub(crate) values: S,
}

impl<S: AsRef<[f32]>> Tensor<S> {
    /// The shape, as PyTorch has it.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The numbers in order of storage.
    #[must_use]
    pub fn stored(&self) -> &[f32] {
        self.values.as_ref()
    }

    /// The number at `row` and `column`; a vector is one row. `None` outside of the shape.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<f32> {
        self.stored().get(self.position(row, column)?).copied()
    }

    /// The numbers row by row, whatever the order of storage.
    pub fn row_major(&self) -> impl Iterator<Item = f32> + '_ {
        let [rows, columns] = self.extent();
        (0..rows).flat_map(move |row| (0..columns).filter_map(move |column| self.get(row, column)))
    }

    const fn extent(&self) -> [usize; 2] {
        match self.shape {
            Shape::Vector([n]) => [1, n],
            Shape::Matrix(extent) => extent,
        }
    }

    /// Where the number at `row` and `column` is stored.
    fn position(&self, row: usize, column: usize) -> Option<usize> {
        let [rows, columns] = self.extent();
        (row < rows && column < columns).then(|| match self.layout {
            Layout::RowMajor => row * columns + column,
            Layout::Panels => crate::format::panel_position(columns, rows, column, row),
        })
    }
}

impl<S: AsMut<[f32]> + AsRef<[f32]>> Tensor<S> {
    /// The numbers in order of storage.
    pub fn stored_mut(&mut self) -> &mut [f32] {
        self.values.as_mut()
    }

    /// Sets all numbers, given row by row as in PyTorch.
    ///
    /// # Errors
    ///
    /// [`WrongCount`] if there are more or fewer than the shape holds; then nothing is changed.
    pub fn set_row_major(&mut self, values: impl ExactSizeIterator<Item = f32>) -> Result<(), WrongCount> {
        let [rows, columns] = self.extent();
        if values.len() != rows * columns {
            return Err(WrongCount { shape: self.shape, found: values.len() });
        }
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        for ((row, column), value) in places.zip(values) {
            self.set(row, column, value);
        }
        Ok(())
    }

    /// Sets the number at `row` and `column`; a vector is one row. Outside of the shape there is nothing to set.
    pub fn set(&mut self, row: usize, column: usize, value: f32) {
        if let Some(position) = self.position(row, column)
            && let Some(stored) = self.values.as_mut().get_mut(position)
        {
            *stored = value;
        }
    }
}

/// A tensor was given more or fewer numbers than its shape holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCount {
    /// The shape of the tensor.
    pub shape: Shape,
    /// How many numbers were given.
    pub found: usize,
}

impl fmt::Display for WrongCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected: usize = self.shape.dimensions().iter().product();
        write!(f, "a tensor of shape {} takes {expected} numbers, found {}", self.shape, self.found)
    }
}

impl core::error::Error for WrongCount {}
