//! What is measured.

use crate::{
    peers::{Peer, ours},
    shape::{Activation, Shape},
};
use constformer::{
    Bert, Causal, Custom, Family, GeluTanh, KnownWidth, Masked, Placement, PreLn, SharedBy, SplitInto, Vaswani, Vit,
    Width,
};

/// A stack, with its sizes in its type for us and in [`Shape`] for others.
#[derive(Clone, Copy)]
pub struct Workload {
    /// Its short name.
    pub name: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// Its shape.
    pub shape: Shape,
    /// What the ratio of the best peer's time to ours should be at least.
    pub bound: f64,
    /// Our implementation of it.
    pub ours: fn(&Shape) -> Box<dyn Peer>,
}

/// The blocks of GPT-2: without embedding, head and final norm.
type Gpt2Blocks = Masked<Custom<PreLn, GeluTanh>, Causal>;

/// All workloads.
#[must_use]
pub fn all() -> Vec<Workload> {
    use Activation::{Gelu, GeluTanh, Relu};
    vec![
        encoder::<Bert, 12, 64, 256, 1, 99>("W1", "KWT-1's shape", Gelu, 1e-12, 1.35),
        encoder::<Vit, 2, 32, 64, 4, 16>("W2", "tiny", Gelu, 1e-6, 3.3),
        encoder::<Bert, 6, 384, 1536, 12, 16>("W3-16", "MiniLM", Gelu, 1e-12, 1.45),
        encoder::<Bert, 6, 384, 1536, 12, 128>("W3-128", "MiniLM", Gelu, 1e-12, 1.17),
        encoder::<Bert, 6, 384, 1536, 12, 256>("W3-256", "MiniLM", Gelu, 1e-12, 1.2),
        encoder::<Vaswani, 1, 512, 2048, 8, 128>("W4", "a block of the original transformer", Relu, 1e-6, 1.12),
        decoder::<Gpt2Blocks, 12, 768, 3072, 12, 256>("W5", "GPT-2 small, the next token", GeluTanh, 1e-5, 1.25),
    ]
}

/// An encoder and `SEQ_LEN` tokens.
#[must_use]
pub fn encoder<
    F: Family,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const SEQ_LEN: usize,
>(
    name: &'static str,
    title: &'static str,
    activation: Activation,
    epsilon: f32,
    bound: f64,
) -> Workload
where
    Width<D_MODEL>: SplitInto<HEADS>,
    Width<D_FF>: KnownWidth,
{
    let norm_first = F::Placement::NORM_FIRST;
    let shape = Shape {
        layers: LAYERS,
        d_model: D_MODEL,
        d_ff: D_FF,
        heads: HEADS,
        tokens: SEQ_LEN,
        past: 0,
        norm_first,
        final_norm: norm_first,
        epsilon,
        activation,
    };
    Workload { name, title, shape, bound, ours: ours::encoder::<F, LAYERS, D_MODEL, D_FF, HEADS, SEQ_LEN> }
}

/// A decoder and one token, after `PAST` that are remembered.
fn decoder<
    F: Family<Mask = Causal>,
    const LAYERS: usize,
    const D_MODEL: usize,
    const D_FF: usize,
    const HEADS: usize,
    const PAST: usize,
>(
    name: &'static str,
    title: &'static str,
    activation: Activation,
    epsilon: f32,
    bound: f64,
) -> Workload
where
    Width<D_MODEL>: SharedBy<HEADS, HEADS, D_MODEL>,
    Width<D_FF>: KnownWidth,
{
    let shape = Shape {
        layers: LAYERS,
        d_model: D_MODEL,
        d_ff: D_FF,
        heads: HEADS,
        tokens: 1,
        past: PAST,
        norm_first: F::Placement::NORM_FIRST,
        final_norm: false,
        epsilon,
        activation,
    };
    Workload { name, title, shape, bound, ours: ours::decoder::<F, LAYERS, D_MODEL, D_FF, HEADS, PAST> }
}
