//! What every head attends to, as the library shows it.

use crate::{HEADS, LAYERS, model::TOKENS};
use constformer::{Name, Observer};
use core::fmt::{self, Write};

/// Softmax of the scores: of each layer, each head, each token, a weight for each token. They sum to 1.
#[derive(Clone, Copy, Debug)]
pub struct Attention(pub [[[[f32; TOKENS]; TOKENS]; HEADS]; LAYERS]);

impl Attention {
    /// Nothing seen.
    pub const NONE: Self = Self([[[[0.0; TOKENS]; TOKENS]; HEADS]; LAYERS]);
}

impl Observer for Attention {
    fn see(&mut self, name: &Name<'_>, token: usize, values: &[f32]) {
        let mut path = Path { bytes: [0; 64], len: 0 };
        let row = write!(path, "{name}")
            .ok()
            .and_then(|()| path.layer_and_head())
            .and_then(|(layer, head)| self.0.get_mut(layer)?.get_mut(head)?.get_mut(token));
        if let Some(row) = row {
            row.iter_mut().zip(values).for_each(|(weight, seen)| *weight = *seen);
        }
    }
}

/// A name as text, without a heap.
struct Path {
    bytes: [u8; 64],
    len: usize,
}

impl Path {
    /// Of `encoder.blocks.1.attention.weights.3`, 1 and 3.
    fn layer_and_head(&self) -> Option<(usize, usize)> {
        let path = self.bytes.get(..self.len)?;
        let (layer, path) = path.strip_prefix(b"encoder.blocks.")?.split_first()?;
        let [head] = path.strip_prefix(b".attention.weights.")? else { return None };
        Some((digit(*layer)?, digit(*head)?))
    }
}

/// There are fewer than ten layers, and than ten heads.
const _: () = assert!(LAYERS < 10 && HEADS < 10);

fn digit(byte: u8) -> Option<usize> {
    byte.checked_sub(b'0').map(usize::from)
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..).and_then(|free| free.get_mut(..text.len())).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}
