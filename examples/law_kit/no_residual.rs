//! A fault: the residual connection around attention is forgotten.

use constformer::{
    AttentionScratch, EncoderBlock, FeedForward, FeedForwardScratch, Gelu, Layer, LayerNorm, Macs, Model,
    MultiHeadAttention, Norm, PositionWise, Sequence, Vit, Working, laws::Member, model,
};

const D_MODEL: usize = 6;
const D_FF: usize = 10;

model! {
    /// z = attention(norm(x)), where a Pre-LN block has x + attention(norm(x)); y = z + feed_forward(norm(z)).
    pub struct NoResidual {
        attention: MultiHeadAttention<Vit, D_MODEL, 2>,
        attention_norm: LayerNorm<D_MODEL>,
        feed_forward: FeedForward<D_MODEL, D_FF, Gelu>,
        feed_forward_norm: LayerNorm<D_MODEL>,
    }
}

impl Model for NoResidual {
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, <Self as Layer<D_MODEL>>::Scratch<SEQ_LEN, TILE>>;

    const MACS: Macs = EncoderBlock::<Vit, D_MODEL, D_FF, 2>::MACS;
}

impl Layer<D_MODEL> for NoResidual {
    type Stream = f32;
    /// The branch, and what the sub-layers need.
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        (Sequence<D_MODEL, SEQ_LEN>, (AttentionScratch<D_MODEL, SEQ_LEN, TILE>, FeedForwardScratch<D_FF, TILE>));

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        (branch, (attention, feed_forward)): &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        branch.clone_from(x);
        self.attention_norm.forward(branch.tokens_mut());
        self.attention.forward(branch, attention);
        x.clone_from(branch); // `+=` is what should be here

        self.feed_forward_norm.forward(branch.tokens_mut());
        self.feed_forward.forward(branch, feed_forward);
        let x = x.tokens_mut().as_flattened_mut().iter_mut();
        x.zip(branch.tokens().as_flattened()).for_each(|(x, branch)| *x += branch);
    }
}

/// It says what it should be; the laws follow from that.
impl Member<D_MODEL> for NoResidual {
    type Family = Vit;
}
