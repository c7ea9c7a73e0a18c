//! How large a model's working memory is.

/// The widths of a [`Working`](crate::Working) with a [`Scratch`](crate::Scratch).
#[allow(clippy::struct_field_names, reason = "the names of the widths")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) d_model: usize,
    pub(super) d_ff: usize,
    pub(super) d_kv: usize,
}

impl Memory {
    /// `size_of::<Working<D_MODEL, SEQ_LEN, Scratch<D_MODEL, D_FF, SEQ_LEN, TILE, D_KV>>>()`; all are numbers of 4 bytes.
    pub(super) fn bytes(self, seq_len: u64, tile: u64) -> u64 {
        let [d_model, d_ff, d_kv] = [self.d_model, self.d_ff, self.d_kv].map(|n| n as u64);
        let stream = d_model * seq_len + 1;
        let key_values = 2 * d_kv * seq_len;
        let attention = (d_model + seq_len + 1) * tile; // query, scores, scale
        let (feed_forward, input) = (d_ff * tile, d_model * tile);
        size_of::<f32>() as u64 * (stream + key_values + attention + feed_forward + input)
    }
}
