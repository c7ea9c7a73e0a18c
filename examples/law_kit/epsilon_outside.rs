//! A fault: ε outside of the root.

use constformer::{
    Bidirectional, EncoderBlock, Family, FeedForward, Format, Gelu, KnownWidth, NoRotation, Norm, PreLn, Width,
    WithBias, model,
};

model! {
    /// γ ⊙ (x - E\[x\]) / (√Var\[x\] + ε) + β, where a LayerNorm has √(Var\[x\] + ε): the same to five digits, but for tokens that are
    /// nearly zero.
    pub struct [const D_MODEL: usize] EpsilonOutside<D_MODEL> {
        weight: [f32; D_MODEL],
        bias: [f32; D_MODEL],
    }
}

const EPSILON: f32 = 1e-5;

impl<const D_MODEL: usize> Norm<D_MODEL> for EpsilonOutside<D_MODEL> {
    /// It says that it is a LayerNorm, so it is tested for what holds for one.
    const RMS_AND_EPSILON: Option<(bool, f32)> = Some((false, EPSILON));

    fn forward(&self, tokens: &mut [[f32; D_MODEL]]) {
        for x in tokens {
            let width = D_MODEL as f32;
            let mean = x.iter().sum::<f32>() / width;
            let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width;
            let scale = 1.0 / (variance.sqrt() + EPSILON);
            for ((x, weight), bias) in x.iter_mut().zip(&self.weight).zip(&self.bias) {
                *x = weight * (*x - mean) * scale + bias;
            }
        }
    }
}

/// The family of the vision transformer, with that norm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VitOutside;

impl Family for VitOutside {
    type Placement = PreLn;
    type Norm<const D_MODEL: usize> = EpsilonOutside<D_MODEL>;
    type FinalNorm<const D_MODEL: usize> = EpsilonOutside<D_MODEL>;
    type Mask = Bidirectional;
    type Rotation = NoRotation;
    type InputBias = WithBias;
    type OutputBias = WithBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = FeedForward<D_MODEL, D_FF, Gelu, T>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

/// The block.
pub(crate) type Block = EncoderBlock<VitOutside, 6, 10, 2>;
