//! The loss of a model of tokens, by its head.

use super::{CrossEntropy, IGNORE, Loss};
use crate::{
    embedding::{TrainableEmbedding, UnknownToken},
    models::TrainableHead,
    plain::Zero,
};
use zerocopy::FromZeros;

/// What a head needs for a tile of those tokens that have a target; `B` is what lies between them and their logits.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct HeadGradientScratch<const D_MODEL: usize, const VOCABULARY: usize, const TILE: usize, B> {
    between: B,
    logits: [[f32; VOCABULARY]; TILE],
    tokens: [[f32; D_MODEL]; TILE],
    d_tokens: [[f32; D_MODEL]; TILE],
    positions: [u32; TILE],
    targets: [u32; TILE],
}

impl<const D_MODEL: usize, const VOCABULARY: usize, const TILE: usize, B: Zero> Zero
    for HeadGradientScratch<D_MODEL, VOCABULARY, TILE, B>
{
    const ZERO: Self = Self {
        between: Zero::ZERO,
        logits: Zero::ZERO,
        tokens: Zero::ZERO,
        d_tokens: Zero::ZERO,
        positions: [0; TILE],
        targets: [0; TILE],
    };
}

impl<const D_MODEL: usize, const VOCABULARY: usize, const TILE: usize, B>
    HeadGradientScratch<D_MODEL, VOCABULARY, TILE, B>
{
    /// The loss of the tokens `x`, of which only those with a target reach the head. If there are `gradients`, `x` become those of the
    /// tokens.
    pub(super) fn loss<E, H>(
        &mut self,
        head: &H,
        embedding: &E,
        x: &mut [[f32; D_MODEL]],
        targets: &[u32],
        (loss, weight): (CrossEntropy, f32),
        mut gradients: Option<(&mut H::Gradient, &mut E::Gradient)>,
    ) -> Result<Loss, UnknownToken>
    where
        E: TrainableEmbedding<D_MODEL>,
        H: TrainableHead<E, D_MODEL, VOCABULARY, Between<TILE> = B>,
    {
        let mut total = Loss::default();
        let mut wanted = (0..).zip(targets).filter(|(_, target)| **target != IGNORE);
        let mut cleared = 0;
        loop {
            let mut count = 0;
            let places = self.positions.iter_mut().zip(&mut self.targets).zip(&mut self.tokens);
            // By the shorter one first, which `zip` does not take from in vain.
            for (((to_position, to_target), token), (position, target)) in places.zip(&mut wanted) {
                (*to_position, *to_target) = (position, *target);
                x.get(position as usize).into_iter().for_each(|x| *token = *x);
                count += 1;
            }
            if count == 0 {
                break;
            }
            let tokens = self.tokens.get(..count).unwrap_or_default();
            let logits = self.logits.get_mut(..count).unwrap_or_default();
            head.forward::<TILE>(embedding, tokens, &mut self.between, logits);
            for (logits, target) in logits.iter_mut().zip(&self.targets) {
                total += Loss { sum: loss.backward(logits, *target, weight)?.into(), count: 1 };
            }
            if let Some((of_head, of_embedding)) = &mut gradients {
                let d_tokens = self.d_tokens.get_mut(..count).unwrap_or_default();
                d_tokens.fill([0.0; D_MODEL]);
                head.backward::<TILE>(embedding, tokens, &mut self.between, logits, d_tokens, (of_head, of_embedding));
                for (position, d) in self.positions.iter().zip(d_tokens) {
                    let position = *position as usize;
                    x.get_mut(cleared..position).unwrap_or_default().fill([0.0; D_MODEL]);
                    x.get_mut(position).into_iter().for_each(|x| *x = *d);
                    cleared = position + 1;
                }
            }
        }
        if gradients.is_some() {
            x.get_mut(cleared..).unwrap_or_default().fill([0.0; D_MODEL]);
        }
        Ok(total)
    }
}
