//! One tensor of a model: its name, its shape, its numbers.

use super::{AsNumbers, Numbers, NumbersMut};
use crate::{
    integer::{quantize, quantize_one},
    integer4::{self, GROUP},
};
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

    /// The path of what this is a part of.
    pub(crate) const fn parent(&self) -> Option<&Self> {
        self.parent
    }

    /// The last part, if it is a field.
    pub(crate) const fn last(&self) -> Option<&str> {
        match self.part {
            Part::Field(name) => Some(name),
            Part::Root | Part::Index(_) => None,
        }
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
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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

impl Shape {
    /// Rows and columns; a vector is one row.
    pub(crate) const fn extent(&self) -> [usize; 2] {
        match self {
            Self::Vector([n]) => [1, *n],
            Self::Matrix(extent) => *extent,
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
    /// Row by row, and not `f32`.
    Int8,
    /// As [`Int8`](Self::Int8).
    Int4,
}

/// A tensor of a model, `S` being [`Numbers`] or [`NumbersMut`].
///
/// [`get`](Self::get) and [`set_row_major`](Self::set_row_major) go by row and column, whatever the order and the format of storage, which
/// is what a checkpoint needs; [`stored`](Self::stored) is as it lies in memory, which is what an optimizer needs.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<S> {
    /// Whether training leaves it as it is.
    pub(crate) frozen: bool,
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    pub(crate) numbers: S,
}

impl<S: AsNumbers> Tensor<S> {
    /// The shape, as PyTorch has it.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The numbers in order of storage, in the format of storage.
    #[must_use]
    pub fn numbers(&self) -> Numbers<'_> {
        self.numbers.as_numbers()
    }

    /// The numbers in order of storage, if they are `f32`; of integers there are none.
    #[must_use]
    pub fn stored(&self) -> &[f32] {
        match self.numbers() {
            Numbers::F32(numbers) => numbers,
            Numbers::Int8 { .. } | Numbers::Int4 { .. } => &[],
        }
    }

    /// The number at `row` and `column`; a vector is one row. `None` outside of the shape.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<f32> {
        let position = self.position(row, column)?;
        match self.numbers() {
            Numbers::F32(numbers) => numbers.get(position).copied(),
            Numbers::Int8 { scales, integers } => Some(scales.get(row)? * f32::from(*integers.get(position)?)),
            Numbers::Int4 { scales, factors, integers } => {
                let [factors, integers] = int4_row(self.extent(), row, [factors, integers]);
                Some(scales.get(row)? * f32::from(integer4::get(factors, integers, column)?))
            }
        }
    }

    /// The numbers row by row, whatever the order and the format of storage.
    pub fn row_major(&self) -> impl Iterator<Item = f32> + Clone + '_ {
        let [rows, columns] = self.extent();
        (0..rows).flat_map(move |row| (0..columns).filter_map(move |column| self.get(row, column)))
    }

    const fn extent(&self) -> [usize; 2] {
        self.shape.extent()
    }

    /// Where the number at `row` and `column` is stored.
    fn position(&self, row: usize, column: usize) -> Option<usize> {
        let [rows, columns] = self.extent();
        (row < rows && column < columns).then(|| match self.layout {
            Layout::RowMajor | Layout::Int8 | Layout::Int4 => row * columns + column,
            Layout::Panels => crate::format::panel_position(columns, rows, column, row),
        })
    }
}

impl Tensor<NumbersMut<'_>> {
    /// The numbers in order of storage, in the format of storage.
    pub fn numbers_mut(&mut self) -> NumbersMut<'_> {
        match &mut self.numbers {
            NumbersMut::F32(numbers) => NumbersMut::F32(numbers),
            NumbersMut::Int8 { scales, integers } => NumbersMut::Int8 { scales, integers },
            NumbersMut::Int4 { scales, factors, integers } => NumbersMut::Int4 { scales, factors, integers },
        }
    }

    /// The numbers in order of storage, if they are `f32`; of integers there are none.
    pub fn stored_mut(&mut self) -> &mut [f32] {
        match &mut self.numbers {
            NumbersMut::F32(numbers) => numbers,
            NumbersMut::Int8 { .. } | NumbersMut::Int4 { .. } => &mut [],
        }
    }

    /// Sets all numbers, given row by row as in PyTorch. Integers are the nearest to them, and the scale of a row is such that the number of
    /// the greatest magnitude is 127, or, of 4 bits, 7 times the factor of its group.
    ///
    /// # Errors
    ///
    /// [`WrongCount`] if there are more or fewer than the shape holds; then nothing is changed.
    pub fn set_row_major(&mut self, values: impl ExactSizeIterator<Item = f32> + Clone) -> Result<(), WrongCount> {
        let [rows, columns] = self.extent();
        if values.len() != rows * columns {
            return Err(WrongCount { shape: self.shape, found: values.len() });
        }
        self.set_all(values);
        Ok(())
    }

    /// Sets all numbers to `number`.
    pub fn fill(&mut self, number: f32) {
        self.set_all(core::iter::repeat(number));
    }

    /// Sets numbers row by row, to the end of the shape or of `values`.
    pub(crate) fn set_all(&mut self, mut values: impl Iterator<Item = f32> + Clone) {
        let [rows, columns] = self.extent();
        match &mut self.numbers {
            NumbersMut::F32(_) => {
                let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                for ((row, column), value) in places.zip(values) {
                    self.set(row, column, value);
                }
            }
            NumbersMut::Int8 { scales, integers } => {
                for (scale, integers) in scales.iter_mut().zip(integers.chunks_exact_mut(columns.max(1))) {
                    *scale = quantize(values.clone(), integers);
                    values.by_ref().take(columns).for_each(drop);
                }
            }
            NumbersMut::Int4 { scales, factors, integers } => {
                let factors = factors.chunks_exact_mut(columns.div_ceil(GROUP).max(1));
                let integers = integers.chunks_exact_mut(columns.div_ceil(2).max(1));
                for ((scale, factors), integers) in scales.iter_mut().zip(factors).zip(integers) {
                    *scale = integer4::quantize(&values, columns, factors, integers);
                    values.by_ref().take(columns).for_each(drop);
                }
            }
        }
    }

    /// Sets the number at `row` and `column`; a vector is one row. An integer is rounded to a multiple of the scale that its row has, or its group. Outside
    /// of the shape there is nothing to set.
    pub fn set(&mut self, row: usize, column: usize, value: f32) {
        let ([_, columns], Some(position)) = (self.extent(), self.position(row, column)) else { return };
        match &mut self.numbers {
            NumbersMut::F32(numbers) => {
                if let Some(number) = numbers.get_mut(position) {
                    *number = value;
                }
            }
            NumbersMut::Int8 { scales, integers } => {
                if let (Some(scale), Some(integer)) = (scales.get(row), integers.get_mut(position)) {
                    *integer = quantize_one(value, *scale);
                }
            }
            NumbersMut::Int4 { scales, factors, integers } => {
                let (groups, bytes) = (columns.div_ceil(GROUP), columns.div_ceil(2));
                let factors = factors.get(row * groups..(row + 1) * groups);
                let integers = integers.get_mut(row * bytes..(row + 1) * bytes);
                if let (Some(scale), Some(factors), Some(integers)) = (scales.get(row), factors, integers) {
                    integer4::set(*scale, factors, integers, column, value);
                }
            }
        }
    }
}

/// The factors and integers of a row, of those of all rows.
fn int4_row([_, columns]: [usize; 2], row: usize, [factors, integers]: [&[u8]; 2]) -> [&[u8]; 2] {
    let (groups, bytes) = (columns.div_ceil(GROUP), columns.div_ceil(2));
    [
        factors.get(row * groups..(row + 1) * groups).unwrap_or_default(),
        integers.get(row * bytes..(row + 1) * bytes).unwrap_or_default(),
    ]
}

/// A tensor was given more or fewer numbers than its shape holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
