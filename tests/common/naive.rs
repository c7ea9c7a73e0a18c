//! Blocks and stacks written once more, naively and in `f64`: no tiles, no panels, no kernel, no types.

use constformer::{Pairing, Parameters};
use std::{collections::HashMap, f64::consts::PI};

pub type Rows = Vec<Vec<f64>>;

/// What a family says, as values.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub norm_first: bool,
    /// LayerNorm; if not, RMSNorm.
    pub centred: bool,
    pub epsilon: f64,
    pub causal: bool,
    /// Which columns of a head rotary positions turn, θ being 10,000.
    pub pairing: Option<Pairing>,
    pub activation: fn(f64) -> f64,
}

pub fn identity(x: f64) -> f64 {
    x
}

pub fn relu(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

pub fn gelu(x: f64) -> f64 {
    0.5 * x * libm::erfc(-x / 2f64.sqrt())
}

pub fn gelu_tanh(x: f64) -> f64 {
    // As x times a sigmoid: 1 + tanh would lose all digits on the left.
    x / (1.0 + (-2.0 * (2.0 / PI).sqrt() * (x + 0.044_715 * x.powi(3))).exp())
}

pub fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

/// A block's parameters by name, matrices as PyTorch has them.
pub struct Block {
    tensors: HashMap<String, Rows>,
    heads: usize,
    recipe: Recipe,
}

impl Block {
    pub fn new(block: &impl Parameters, heads: usize, recipe: Recipe) -> Self {
        Self { tensors: tensors(block).into_iter().collect(), heads, recipe }
    }

    pub fn forward(&self, x: &Rows) -> Rows {
        let norm = |name: &str, first: bool, x: &Rows| {
            if self.recipe.norm_first == first { self.norm(name, x) } else { x.clone() }
        };
        let x = &norm("attention_norm", false, &add(x, &self.attention(&norm("attention_norm", true, x))));
        norm("feed_forward_norm", false, &add(x, &self.feed_forward(&norm("feed_forward_norm", true, x))))
    }

    pub fn attention(&self, x: &Rows) -> Rows {
        let [mut q, mut k, v] = ["query", "key", "value"].map(|name| self.linear(&format!("attention.{name}"), x));
        let d = q[0].len() / self.heads;
        if let Some(pairing) = self.recipe.pairing {
            rotate(&mut q, d, pairing);
            rotate(&mut k, d, pairing);
        }
        let group = q[0].len() / k[0].len(); // heads that share keys and values
        let mut context = vec![vec![0.0; q[0].len()]; x.len()];
        for h in 0..self.heads {
            let (own, shared) = (h * d, h / group * d);
            for i in 0..x.len() {
                let visible = if self.recipe.causal { i + 1 } else { x.len() };
                let score =
                    |j: usize| (0..d).map(|c| q[i][own + c] * k[j][shared + c]).sum::<f64>() / (d as f64).sqrt();
                let e: Vec<f64> = (0..visible).map(|j| score(j).exp()).collect();
                let sum: f64 = e.iter().sum();
                for c in 0..d {
                    context[i][own + c] = (0..visible).map(|j| e[j] / sum * v[j][shared + c]).sum();
                }
            }
        }
        self.linear("attention.output", &context)
    }

    pub fn feed_forward(&self, x: &Rows) -> Rows {
        let mut hidden = self.linear("feed_forward.inner", x);
        if self.tensors.contains_key("feed_forward.gate.weight") {
            let gate = self.linear("feed_forward.gate", x);
            for (h, g) in hidden.iter_mut().flatten().zip(gate.iter().flatten()) {
                *h *= (self.recipe.activation)(*g);
            }
        } else {
            hidden.iter_mut().flatten().for_each(|h| *h = (self.recipe.activation)(*h));
        }
        self.linear("feed_forward.outer", &hidden)
    }

    fn linear(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (&self.tensors[&format!("{name}.weight")], self.vector(&format!("{name}.bias")));
        let dot = |x: &[f64], w: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let row = |x: &Vec<f64>| {
            weight.iter().enumerate().map(|(j, w)| dot(x, w) + bias.map_or(0.0, |bias| bias[j])).collect()
        };
        x.iter().map(row).collect()
    }

    fn norm(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (&self.tensors[&format!("{name}.weight")][0], self.vector(&format!("{name}.bias")));
        let Recipe { centred, epsilon, .. } = self.recipe;
        x.iter().map(|x| normalize(x, weight, bias.map(Vec::as_slice), centred, epsilon)).collect()
    }

    fn vector(&self, name: &str) -> Option<&Vec<f64>> {
        self.tensors.get(name).map(|rows| &rows[0])
    }
}

/// A token, normalised.
pub fn normalize(x: &[f64], weight: &[f64], bias: Option<&[f64]>, centred: bool, epsilon: f64) -> Vec<f64> {
    let d = x.len() as f64;
    let mean = if centred { x.iter().sum::<f64>() / d } else { 0.0 };
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / d;
    let scale = 1.0 / (variance + epsilon).sqrt();
    (0..x.len()).map(|i| (x[i] - mean) * scale * weight[i] + bias.map_or(0.0, |bias| bias[i])).collect()
}

/// A block, an array of blocks, or a stack with its final norm.
pub struct Stack {
    /// Each by what comes before the names of its tensors; the final norm is one that has no attention.
    parts: Vec<(String, Block)>,
}

impl Stack {
    pub fn new(model: &impl Parameters, heads: usize, recipe: Recipe) -> Self {
        let mut parts: Vec<(String, Block)> = vec![];
        for (name, rows) in tensors(model) {
            let (part, name) = split(&name);
            if parts.last().is_none_or(|(last, _)| last != part) {
                parts.push((part.to_string(), Block { tensors: HashMap::new(), heads, recipe }));
            }
            parts.last_mut().unwrap().1.tensors.insert(name.to_string(), rows);
        }
        Self { parts }
    }

    pub fn forward(&self, x: &Rows) -> Rows {
        self.parts.iter().fold(x.clone(), |x, (_, part)| {
            if part.tensors.contains_key("attention.query.weight") { part.forward(&x) } else { part.norm("norm", &x) }
        })
    }

    /// A tensor, to change it.
    pub fn tensor(&mut self, name: &str) -> &mut Rows {
        let (part, name) = split(name);
        let (_, block) = self.parts.iter_mut().find(|(found, _)| found == part).unwrap();
        block.tensors.get_mut(name).unwrap()
    }
}

/// The name of a tensor: up to the number of a block, and the rest.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |digit| digit + 2))
}

/// The tensors in order, row by row.
fn tensors(model: &impl Parameters) -> Vec<(String, Rows)> {
    let mut tensors = vec![];
    model.for_each_tensor(|name, tensor| {
        let numbers: Vec<_> = tensor.row_major().map(f64::from).collect();
        let columns = *tensor.shape().dimensions().last().unwrap();
        tensors.push((name.to_string(), numbers.chunks(columns).map(<[f64]>::to_vec).collect()));
    });
    tensors
}

/// Turns queries or keys, whose heads have `d` columns, by their positions.
fn rotate(x: &mut Rows, d: usize, pairing: Pairing) {
    for (position, x) in x.iter_mut().enumerate() {
        for head in x.chunks_mut(d) {
            for i in 0..d / 2 {
                let (a, b) = match pairing {
                    Pairing::Interleaved => (2 * i, 2 * i + 1),
                    Pairing::HalfSplit => (i, i + d / 2),
                };
                let (sin, cos) = (position as f64 * 1e4f64.powf(-2.0 * i as f64 / d as f64)).sin_cos();
                (head[a], head[b]) = (head[a] * cos - head[b] * sin, head[a] * sin + head[b] * cos);
            }
        }
    }
}

fn add(x: &Rows, y: &Rows) -> Rows {
    x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect()).collect()
}
