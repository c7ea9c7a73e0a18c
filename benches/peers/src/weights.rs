//! Random weights, the same for all frameworks.
//!
//! They are made when they are asked for, block by block, so that no second copy of them lies in memory.

use crate::shape::Shape;

/// y = W x + b
#[derive(Clone, Debug)]
pub struct Linear {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// `[outputs, inputs]`, row by row.
    pub weight: Vec<f32>,
    /// `[outputs]`
    pub bias: Vec<f32>,
}

impl Linear {
    /// `[inputs, outputs]`, row by row.
    #[must_use]
    pub fn transposed(&self) -> Vec<f32> {
        let rows = 0..self.inputs;
        rows.flat_map(|input| self.weight.iter().skip(input).step_by(self.inputs)).copied().collect()
    }
}

/// γ and β of a layer norm.
#[derive(Clone, Debug)]
pub struct Norm {
    /// γ
    pub weight: Vec<f32>,
    /// β
    pub bias: Vec<f32>,
}

/// A name, a shape, numbers row by row.
pub type Named = (String, Vec<usize>, Vec<f32>);

impl Norm {
    fn tensors(self, name: &str) -> [Named; 2] {
        let n = vec![self.weight.len()];
        [(format!("{name}.weight"), n.clone(), self.weight), (format!("{name}.bias"), n, self.bias)]
    }
}

/// The weights of a block, in the order in which they are drawn.
#[derive(Clone, Debug)]
pub struct Block {
    /// Maps to queries.
    pub query: Linear,
    /// Maps to keys.
    pub key: Linear,
    /// Maps to values.
    pub value: Linear,
    /// Maps the context back.
    pub output: Linear,
    /// The norm of attention.
    pub attention_norm: Norm,
    /// The first map of the feed-forward layer.
    pub inner: Linear,
    /// The second.
    pub outer: Linear,
    /// The norm of the feed-forward layer.
    pub feed_forward_norm: Norm,
}

impl Block {
    fn new(shape: &Shape, random: &mut Random) -> Self {
        let (d, f) = (shape.d_model, shape.d_ff);
        Self {
            query: random.linear(d, d),
            key: random.linear(d, d),
            value: random.linear(d, d),
            output: random.linear(d, d),
            attention_norm: random.norm(d),
            inner: random.linear(d, f),
            outer: random.linear(f, d),
            feed_forward_norm: random.norm(d),
        }
    }

    /// All tensors with their names, in order.
    fn tensors(self) -> Vec<Named> {
        let linear = |name: &str, map: Linear| {
            let weight = (format!("{name}.weight"), vec![map.outputs, map.inputs], map.weight);
            [weight, (format!("{name}.bias"), vec![map.outputs], map.bias)]
        };
        [
            linear("query", self.query),
            linear("key", self.key),
            linear("value", self.value),
            linear("output", self.output),
            self.attention_norm.tensors("attention_norm"),
            linear("inner", self.inner),
            linear("outer", self.outer),
            self.feed_forward_norm.tensors("feed_forward_norm"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The weights of a stack of that shape, block by block.
#[derive(Clone, Debug)]
pub struct Weights {
    shape: Shape,
    random: Random,
    left: usize,
}

impl Weights {
    /// The weights of a stack of that shape.
    #[must_use]
    pub fn new(shape: &Shape) -> Self {
        Self { shape: *shape, random: Random(1), left: shape.layers }
    }

    /// The final norm, after all blocks.
    ///
    /// # Panics
    ///
    /// Before that.
    pub fn final_norm(&mut self) -> Option<Norm> {
        assert_eq!(self.left, 0, "the final norm comes after the blocks");
        self.shape.final_norm.then(|| self.random.norm(self.shape.d_model))
    }

    /// All tensors with their names, in order: `0.query.weight`, ..., `norm.bias`.
    pub fn tensors(shape: &Shape) -> impl Iterator<Item = Named> + use<> {
        let mut weights = Self::new(shape);
        (0..=shape.layers).flat_map(move |layer| match weights.next() {
            Some(block) => {
                let named = |(name, shape, values)| (format!("{layer}.{name}"), shape, values);
                block.tensors().into_iter().map(named).collect()
            }
            None => weights.final_norm().map_or(vec![], |norm| norm.tensors("norm").into()),
        })
    }

    /// `tokens` tokens to be given to the stack: `[tokens, d_model]`.
    #[must_use]
    pub fn tokens(shape: &Shape) -> Vec<f32> {
        Random(2).vector(shape.tokens * shape.d_model, 0.0, 1.0)
    }

    /// The tokens before them: `[past, d_model]`.
    #[must_use]
    pub fn past(shape: &Shape) -> Vec<f32> {
        Random(3).vector(shape.past * shape.d_model, 0.0, 1.0)
    }
}

impl Iterator for Weights {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        self.left = self.left.checked_sub(1)?;
        Some(Block::new(&self.shape, &mut self.random))
    }
}

/// Numbers of mean 0 and variance 1.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 12_f32.sqrt()
    }

    fn vector(&mut self, len: usize, mean: f32, spread: f32) -> Vec<f32> {
        (0..len).map(|_| mean + spread * self.next()).collect()
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let weight = self.vector(outputs * inputs, 0.0, 1.0 / (inputs as f32).sqrt());
        Linear { inputs, outputs, weight, bias: self.vector(outputs, 0.0, 0.1) }
    }

    fn norm(&mut self, len: usize) -> Norm {
        Norm { weight: self.vector(len, 1.0, 0.1), bias: self.vector(len, 0.0, 0.1) }
    }
}
