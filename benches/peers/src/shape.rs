//! What a stack of blocks is besides its weights.

use serde::{Deserialize, Serialize};

/// The function between the two maps of a feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activation {
    /// max(x, 0)
    Relu,
    /// x Φ(x)
    Gelu,
    /// The form of Φ with tanh.
    GeluTanh,
}

/// The shape of a stack, and of what it is given.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// Number of blocks.
    pub layers: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of the feed-forward layers.
    pub d_ff: usize,
    /// Number of heads.
    pub heads: usize,
    /// Number of tokens of a forward pass.
    pub tokens: usize,
    /// Number of tokens that are remembered before; then the stack is causal.
    pub past: usize,
    /// Pre-LN or Post-LN.
    pub norm_first: bool,
    /// Whether a norm follows the last block.
    pub final_norm: bool,
    /// The ε of the norms.
    pub epsilon: f32,
    /// Of the feed-forward layers.
    pub activation: Activation,
}

impl Shape {
    /// Width of a head.
    #[must_use]
    pub const fn d_head(&self) -> usize {
        self.d_model / self.heads
    }

    /// 1 / √d, by which scores are multiplied.
    #[must_use]
    pub fn scale(&self) -> f32 {
        1.0 / (self.d_head() as f32).sqrt()
    }

    /// Multiplications with an addition of the matrix products.
    #[must_use]
    pub const fn macs(&self) -> usize {
        let maps = 4 * self.d_model * self.d_model + 2 * self.d_model * self.d_ff;
        let pairs = self.tokens * (self.past + self.tokens);
        self.layers * (self.tokens * maps + 2 * pairs * self.d_model)
    }

    /// Bytes of weights, keys and values that a forward pass has to read at least once.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        let maps = 4 * self.d_model * self.d_model + 2 * self.d_model * self.d_ff;
        let vectors = 9 * self.d_model + self.d_ff;
        4 * self.layers * (maps + vectors + 2 * self.past * self.d_model)
    }
}
