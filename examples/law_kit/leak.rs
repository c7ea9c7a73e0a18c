//! A fault: a causal mask that is off by one. And the block without it, for `AHEAD` = 0.

use constformer::{
    EncoderBlock, FeedForward, FeedForwardScratch, Gelu, Gpt2, Layer, LayerNorm, Linear, Macs, Model, Norm,
    PositionWise, Sequence, Working, laws::Member, math, model,
};

const D_MODEL: usize = 6;
const D_FF: usize = 10;

model! {
    /// Attention of one head, written out.
    pub struct Attention {
        query: Linear<D_MODEL, D_MODEL>,
        key: Linear<D_MODEL, D_MODEL>,
        value: Linear<D_MODEL, D_MODEL>,
        output: Linear<D_MODEL, D_MODEL>,
    }
}

model! {
    /// A causal Pre-LN block in which a token sees `AHEAD` later ones: none, if it were right.
    pub struct [const AHEAD: usize] Ahead<AHEAD> {
        attention: Attention,
        attention_norm: LayerNorm<D_MODEL>,
        feed_forward: FeedForward<D_MODEL, D_FF, Gelu>,
        feed_forward_norm: LayerNorm<D_MODEL>,
    }
}

/// The fault.
pub(crate) type Leak = Ahead<1>;

impl Attention {
    /// What attention adds to the token at `position`, of those in `x`.
    fn apply<const AHEAD: usize>(&self, position: usize, x: &[[f32; D_MODEL]]) -> [f32; D_MODEL] {
        let seen = &x[..(position + 1 + AHEAD).min(x.len())];
        let query = self.query.apply(&x[position]);
        let score = |x| query.iter().zip(self.key.apply(x)).map(|(q, k)| q * k).sum::<f32>() / (D_MODEL as f32).sqrt();
        let mut weights: Vec<f32> = seen.iter().map(score).collect();
        math::softmax(&mut weights);
        let mut context = [0.0; D_MODEL];
        for (weight, x) in weights.iter().zip(seen) {
            context.iter_mut().zip(self.value.apply(x)).for_each(|(sum, value)| *sum += weight * value);
        }
        self.output.apply(&context)
    }
}

impl<const AHEAD: usize> Model for Ahead<AHEAD> {
    type Memory<const SEQ_LEN: usize, const TILE: usize> =
        Working<D_MODEL, SEQ_LEN, <Self as Layer<D_MODEL>>::Scratch<SEQ_LEN, TILE>>;

    const MACS: Macs = EncoderBlock::<Gpt2, D_MODEL, D_FF, 1>::MACS;
}

impl<const AHEAD: usize> Layer<D_MODEL> for Ahead<AHEAD> {
    type Stream = f32;
    /// The branch, and what the feed-forward layer needs.
    type Scratch<const SEQ_LEN: usize, const TILE: usize> =
        (Sequence<D_MODEL, SEQ_LEN>, FeedForwardScratch<D_FF, TILE>);

    fn forward<const SEQ_LEN: usize, const TILE: usize>(
        &self,
        x: &mut Sequence<D_MODEL, SEQ_LEN>,
        (branch, feed_forward): &mut Self::Scratch<SEQ_LEN, TILE>,
    ) {
        branch.clone_from(x);
        self.attention_norm.forward(branch.tokens_mut());
        for (position, x) in x.tokens_mut().iter_mut().enumerate() {
            let y = self.attention.apply::<AHEAD>(position, branch.tokens());
            x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        }

        branch.clone_from(x);
        self.feed_forward_norm.forward(branch.tokens_mut());
        self.feed_forward.forward(branch, feed_forward);
        let x = x.tokens_mut().as_flattened_mut().iter_mut();
        x.zip(branch.tokens().as_flattened()).for_each(|(x, branch)| *x += branch);
    }
}

/// Pre-LN and causal, it says.
impl<const AHEAD: usize> Member<D_MODEL> for Ahead<AHEAD> {
    type Family = Gpt2;
}
