//! How large a model's working memory is: numbers of 4 bytes.

/// The widths of a [`Working`](crate::Working) with a [`Scratch`](crate::Scratch).
#[allow(clippy::struct_field_names, reason = "the names of the widths")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) d_model: usize,
    pub(super) d_ff: usize,
    pub(super) d_kv: usize,
    /// Layers with cross-attention, of a [`Transformer`](crate::Transformer).
    pub(super) cross_layers: Option<usize>,
    /// Layers of a [`CachedLayer`](crate::CachedLayer).
    pub(super) cached_layers: Option<usize>,
}

impl Memory {
    /// `size_of::<Working<D_MODEL, SEQ_LEN, Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV>>>()`, or that of a
    /// [`TransformerMemory`](crate::TransformerMemory) for as many tokens on both sides.
    pub(super) fn bytes(self, seq_len: u64, tile: u64) -> u64 {
        let numbers = match self.cross_layers {
            None => self.working(seq_len, tile),
            Some(layers) => {
                let key_values = layers as u64 * self.key_values(seq_len);
                let (cache, source, stream) = (key_values + 2, key_values + 1, self.stream(tile));
                let scratch = self.tile(seq_len, tile) + self.attention(seq_len, tile);
                cache + source + self.working(seq_len, tile) + stream + scratch
            }
        };
        size_of::<f32>() as u64 * numbers
    }

    /// `size_of::<CachedMemory<M, CAPACITY, TILE>>()` of a language model; `None` if it has no cache.
    pub(super) fn with_cache(self, capacity: u64, tile: u64) -> Option<u64> {
        let cache = self.cached_layers? as u64 * self.key_values(capacity) + 2;
        Some(size_of::<f32>() as u64 * (cache + self.stream(tile) + self.tile(capacity, tile)))
    }

    fn working(self, seq_len: u64, tile: u64) -> u64 {
        self.stream(seq_len) + self.key_values(seq_len) + self.tile(seq_len, tile)
    }

    fn stream(self, seq_len: u64) -> u64 {
        self.d_model as u64 * seq_len + 1
    }

    fn key_values(self, seq_len: u64) -> u64 {
        2 * self.d_kv as u64 * seq_len
    }

    /// Attention, what lies between the products of a feed-forward layer, the input of a sub-layer.
    fn tile(self, seq_len: u64, tile: u64) -> u64 {
        self.attention(seq_len, tile) + (self.d_ff as u64 + self.d_model as u64) * tile
    }

    /// Queries, scores, scales.
    fn attention(self, seq_len: u64, tile: u64) -> u64 {
        (self.d_model as u64 + seq_len + 1) * tile
    }
}
