//! An encoder block written once more, naively and in `f64`: no tiles, no panels, no kernel, no types.

use constformer::Parameters;
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
    pub activation: fn(f64) -> f64,
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
        let mut tensors = HashMap::new();
        block.for_each_tensor(|name, tensor| {
            let numbers: Vec<_> = tensor.row_major().map(f64::from).collect();
            let columns = *tensor.shape().dimensions().last().unwrap();
            tensors.insert(name.to_string(), numbers.chunks(columns).map(<[f64]>::to_vec).collect());
        });
        Self { tensors, heads, recipe }
    }

    pub fn forward(&self, x: &Rows) -> Rows {
        let norm = |name: &str, first: bool, x: &Rows| {
            if self.recipe.norm_first == first { self.norm(name, x) } else { x.clone() }
        };
        let x = &norm("attention_norm", false, &add(x, &self.attention(&norm("attention_norm", true, x))));
        norm("feed_forward_norm", false, &add(x, &self.feed_forward(&norm("feed_forward_norm", true, x))))
    }

    pub fn attention(&self, x: &Rows) -> Rows {
        let [q, k, v] = ["query", "key", "value"].map(|name| self.linear(&format!("attention.{name}"), x));
        let d = q[0].len() / self.heads;
        let mut context = vec![vec![0.0; q[0].len()]; x.len()];
        for h in 0..self.heads {
            for i in 0..x.len() {
                let visible = if self.recipe.causal { i + 1 } else { x.len() };
                let score =
                    |j: usize| (0..d).map(|c| q[i][h * d + c] * k[j][h * d + c]).sum::<f64>() / (d as f64).sqrt();
                let e: Vec<f64> = (0..visible).map(|j| score(j).exp()).collect();
                let sum: f64 = e.iter().sum();
                for c in h * d..(h + 1) * d {
                    context[i][c] = (0..visible).map(|j| e[j] / sum * v[j][c]).sum();
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
        let row = |x: &Vec<f64>| {
            let d = x.len() as f64;
            let mean = if self.recipe.centred { x.iter().sum::<f64>() / d } else { 0.0 };
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / d;
            let scale = 1.0 / (variance + self.recipe.epsilon).sqrt();
            (0..x.len()).map(|i| (x[i] - mean) * scale * weight[i] + bias.map_or(0.0, |bias| bias[i])).collect()
        };
        x.iter().map(row).collect()
    }

    fn vector(&self, name: &str) -> Option<&Vec<f64>> {
        self.tensors.get(name).map(|rows| &rows[0])
    }
}

fn add(x: &Rows, y: &Rows) -> Rows {
    x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect()).collect()
}
