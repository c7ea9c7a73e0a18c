//! Classifiers that rustc has not seen, run: one number after the other, to compare formats on samples.

use super::{Expression, Model};
use crate::{
    Activation, Gelu, GeluTanh, Hyperparameters, Identity, Relu, Silu, Tensor,
    integer::{HIGHEST, greatest_magnitude, nearest, scales},
    integer4::{GROUP, unpack},
    machine::Single,
    math,
    parameters::{AsNumbers, Numbers, Walk},
};
use std::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// A classifier of a blueprint, its matrices row by row.
pub(crate) struct Runner {
    tensors: BTreeMap<String, Matrix>,
    of: Hyperparameters,
    activation: fn(f32) -> f32,
    mean: bool,
    /// Numbers of an input, and inputs at most.
    pub(crate) features: usize,
    pub(crate) inputs: usize,
}

/// The rows of a matrix, or the one of a vector.
enum Matrix {
    F32 { columns: usize, numbers: Vec<f32> },
    Integers { columns: usize, scales: Vec<f32>, integers: Vec<i16> },
}

impl Matrix {
    fn of<S: AsNumbers>(tensor: &Tensor<S>) -> Self {
        let columns = *tensor.shape().dimensions().last().unwrap_or(&0);
        match tensor.numbers() {
            Numbers::F32(_) => Self::F32 { columns, numbers: tensor.row_major().collect() },
            Numbers::Int8 { scales, integers } => Self::Integers {
                columns,
                scales: scales.to_vec(),
                integers: integers.iter().copied().map(i16::from).collect(),
            },
            Numbers::Int4 { scales, factors, integers } => {
                let mut unpacked = vec![0; scales.len() * columns];
                let (groups, bytes) = (columns.div_ceil(GROUP).max(1), columns.div_ceil(2).max(1));
                let rows = unpacked.chunks_mut(columns.max(1)).zip(factors.chunks(groups)).zip(integers.chunks(bytes));
                rows.for_each(|((row, factors), integers)| unpack(factors, integers, row));
                Self::Integers { columns, scales: scales.to_vec(), integers: unpacked }
            }
        }
    }

    fn columns(&self) -> usize {
        match self {
            Self::F32 { columns, .. } | Self::Integers { columns, .. } => *columns,
        }
    }

    /// Row by row, the product with `x`.
    fn multiply(&self, x: &[f32]) -> Vec<f32> {
        match self {
            Self::F32 { columns, numbers } => {
                numbers.chunks_exact(*columns).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
            }
            Self::Integers { columns, scales: of_rows, integers } => {
                let (of_x, inverse) = scales(greatest_magnitude(x.iter().copied()), HIGHEST);
                let x: Vec<_> = x.iter().map(|x| nearest(x * inverse)).collect();
                let rows = integers.chunks_exact(*columns).zip(of_rows);
                rows.map(|(row, of_row)| {
                    let sum: i32 = row.iter().zip(&x).map(|(w, x)| i32::from(*w) * i32::from(*x)).sum();
                    sum as f32 * (of_x * of_row)
                })
                .collect()
            }
        }
    }

    fn row(&self, row: usize) -> &[f32] {
        match self {
            Self::F32 { columns, numbers } => numbers.chunks_exact((*columns).max(1)).nth(row).unwrap_or_default(),
            Self::Integers { .. } => &[], // vectors and tables are none
        }
    }
}

impl Runner {
    /// `Err` with what the model is, if that cannot be run.
    pub(crate) fn new(model: &Model<'_>, expression: &Expression) -> Result<Self, String> {
        let Expression::Type(name, arguments) = expression else { return Err("an array".into()) };
        let is = |place: usize, name: &str| matches!(arguments.get(place), Some(Expression::Type(found, _)) if found == name);
        let hyperparameters = model.hyperparameters();
        let rotary = hyperparameters.pairing.is_some();
        if name != "Classifier" || !is(0, "PatchEmbedding") || !is(1, "Encoder") || rotary {
            return Err(format!("`{expression}`"));
        }
        let mut tensors = BTreeMap::new();
        model.tensors(&mut |name, tensor| drop(tensors.insert(name.to_string(), Matrix::of(&tensor))));
        let activation = match hyperparameters.activation {
            Some(Relu::NAME) => |x| Relu::apply(Single, x),
            Some(Gelu::NAME) => |x| Gelu::apply(Single, x),
            Some(GeluTanh::NAME) => |x| GeluTanh::apply(Single, x),
            Some(Silu::NAME) => |x| Silu::apply(Single, x),
            _ => |x| Identity::apply(Single, x),
        };
        Ok(Self {
            features: tensors.get("embedding.projection.weight").map_or(0, Matrix::columns),
            inputs: hyperparameters.positions.unwrap_or(1) - 1,
            tensors,
            of: *hyperparameters,
            activation,
            mean: is(4, "Mean"),
        })
    }

    /// How many logits there are.
    pub(crate) fn classes(&self) -> usize {
        self.row("head.bias", 0).len()
    }

    /// The logits of `inputs`, `features` numbers each.
    pub(crate) fn logits(&self, inputs: &[f32]) -> Vec<f32> {
        let mut x = vec![self.row("embedding.class_token", 0).to_vec()];
        x.extend(inputs.chunks_exact(self.features).map(|input| self.linear("embedding.projection", input)));
        for (position, x) in x.iter_mut().enumerate() {
            add(x, self.row("embedding.positions.weight", position));
        }
        for layer in 0..self.of.layers.unwrap_or(0) {
            self.block(&format!("encoder.blocks.{layer}"), &mut x);
        }
        x.iter_mut().for_each(|x| self.norm("encoder.norm", x));
        let pooled = if self.mean {
            (0..x[0].len()).map(|i| x.iter().map(|x| x[i]).sum::<f32>() / x.len() as f32).collect()
        } else {
            x.swap_remove(0)
        };
        self.linear("head", &pooled)
    }

    fn block(&self, name: &str, x: &mut [Vec<f32>]) {
        let [attention_norm, feed_forward_norm] =
            ["attention_norm", "feed_forward_norm"].map(|norm| format!("{name}.{norm}"));
        let normed = self.before(&attention_norm, x);
        let attended = self.attention(&format!("{name}.attention"), &normed);
        self.after(&attention_norm, x, attended);
        let normed = self.before(&feed_forward_norm, x);
        let widened = normed.iter().map(|x| self.feed_forward(&format!("{name}.feed_forward"), x)).collect();
        self.after(&feed_forward_norm, x, widened);
    }

    fn before(&self, norm: &str, x: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let mut x = x.to_vec();
        if self.of.norm_first == Some(true) {
            x.iter_mut().for_each(|x| self.norm(norm, x));
        }
        x
    }

    fn after(&self, norm: &str, x: &mut [Vec<f32>], outputs: Vec<Vec<f32>>) {
        for (x, output) in x.iter_mut().zip(outputs) {
            add(x, &output);
            if self.of.norm_first != Some(true) {
                self.norm(norm, x);
            }
        }
    }

    fn attention(&self, name: &str, x: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let project = |part: &str| x.iter().map(|x| self.linear(&format!("{name}.{part}"), x)).collect::<Vec<_>>();
        let [query, key, value] = ["query", "key", "value"].map(project);
        let heads = self.of.heads.unwrap_or(1);
        let width = query.first().map_or(0, Vec::len) / heads;
        let context = query.iter().enumerate().map(|(token, query)| {
            let seen = if self.of.causal == Some(true) { token + 1 } else { x.len() };
            let mut context = vec![0.0; query.len()];
            for head in 0..heads {
                let of = |row: &Vec<f32>| row[head * width..(head + 1) * width].to_vec();
                let query = of(query);
                let mut weights: Vec<f32> =
                    key[..seen].iter().map(|key| dot(&query, &of(key)) / math::sqrt(width as f32)).collect();
                math::softmax(&mut weights);
                for (weight, value) in weights.iter().zip(&value) {
                    let context = context[head * width..].iter_mut().zip(of(value));
                    context.for_each(|(context, value)| *context += weight * value);
                }
            }
            self.linear(&format!("{name}.output"), &context)
        });
        context.collect()
    }

    fn feed_forward(&self, name: &str, x: &[f32]) -> Vec<f32> {
        let mut hidden = self.linear(&format!("{name}.inner"), x);
        if self.tensors.contains_key(&format!("{name}.gate.weight")) {
            let gate = self.linear(&format!("{name}.gate"), x);
            hidden.iter_mut().zip(gate).for_each(|(x, gate)| *x *= (self.activation)(gate));
        } else {
            hidden.iter_mut().for_each(|x| *x = (self.activation)(*x));
        }
        self.linear(&format!("{name}.outer"), &hidden)
    }

    /// Nothing, if there is no such norm.
    fn norm(&self, name: &str, x: &mut [f32]) {
        let weight = self.row(&format!("{name}.weight"), 0);
        if weight.is_empty() {
            return;
        }
        let n = x.len() as f32;
        let mean = if self.of.rms_norm == Some(true) { 0.0 } else { x.iter().sum::<f32>() / n };
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
        let scale = 1.0 / math::sqrt(variance + self.of.epsilon.unwrap_or(0.0));
        x.iter_mut().zip(weight).for_each(|(x, weight)| *x = (*x - mean) * scale * weight);
        add(x, self.row(&format!("{name}.bias"), 0));
    }

    fn linear(&self, name: &str, x: &[f32]) -> Vec<f32> {
        let mut y = self.tensors.get(&format!("{name}.weight")).map_or_else(Vec::new, |weight| weight.multiply(x));
        add(&mut y, self.row(&format!("{name}.bias"), 0));
        y
    }

    fn row(&self, name: &str, row: usize) -> &[f32] {
        self.tensors.get(name).map_or(&[], |tensor| tensor.row(row))
    }
}

/// What is added may be nothing: a bias that is absent.
fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
