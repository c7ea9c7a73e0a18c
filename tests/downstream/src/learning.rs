//! The model of this crate learns, with memory that is a type, and no heap.

use crate::{AXES, Blocks, D_MODEL, Gestures, SEQ_LEN, SquaredRelu, TILE};
use constformer::{
    Empty, InputError, Sequence, Zero,
    machine::Machine,
    training::{Pass, Sgd, TrainableActivation, TrainableLayer, TrainingError, clear, clip_norm},
};
use static_cell::ConstStaticCell;

/// 2 max(0, x)
impl TrainableActivation for SquaredRelu {
    #[inline(always)]
    fn derivative<M: Machine>(m: M, x: M::Vector) -> M::Vector {
        let x = m.max(m.splat(0.0), x);
        m.add(x, x)
    }
}

/// What the blocks save on the way forward.
type Saved = <Blocks as TrainableLayer<D_MODEL>>::Saved<SEQ_LEN>;
/// What they work in.
type GradientScratch = <Blocks as TrainableLayer<D_MODEL>>::GradientScratch<SEQ_LEN, TILE>;

/// All that learning takes in RAM besides the model.
pub struct Learning {
    gradient: Gestures,
    saved: Saved,
    scratch: GradientScratch,
    stream: Sequence<D_MODEL, SEQ_LEN>,
}

/// In `.bss`: taken once.
pub static LEARNING: ConstStaticCell<Learning> = ConstStaticCell::new(Learning {
    gradient: Gestures::ZERO,
    saved: Zero::ZERO,
    scratch: Zero::ZERO,
    stream: Sequence::new(),
});

impl Learning {
    /// The loss of a series whose gesture is known; the gradient is added to what there is.
    ///
    /// # Errors
    ///
    /// [`TrainingError`] if there is no measurement, or no such gesture.
    pub fn backward(
        &mut self,
        model: &Gestures,
        series: &Sequence<AXES, SEQ_LEN>,
        gesture: u32,
        pass: Pass,
    ) -> Result<f32, TrainingError> {
        let Self { gradient, saved, scratch, stream } = self;
        model.embedding.forward(series, stream);
        model.positions.forward(stream);
        model.encoder.forward_saved(stream, saved, scratch, pass.dropout);
        let last = [stream.last().ok_or(InputError::Empty(Empty))?];
        let mut logits = [model.head.apply(&last[0])];
        let loss = pass.loss.backward(&mut logits[0], gesture, pass.weight)?;

        let mut d_last = [[0.0; D_MODEL]];
        model.head.backward(&last, &logits, &mut d_last, &mut gradient.head);
        let dy = stream.tokens_mut();
        dy.fill([0.0; D_MODEL]);
        dy.last_mut().into_iter().for_each(|dy| *dy = d_last[0]);
        model.encoder.backward(stream, saved, scratch, pass.dropout, &mut gradient.encoder);
        gradient.positions.add_gradient(stream.tokens());
        model.embedding.add_gradient(series.tokens(), stream.tokens(), &mut gradient.embedding);
        Ok(loss)
    }

    /// Improves the model by the gradient, which is 0 then.
    pub fn step(&mut self, model: &mut Gestures, rate: f32) {
        clip_norm(&mut self.gradient, 1.0);
        Sgd { weight_decay: 1e-4, ..Sgd::default() }.plain_step(model, &self.gradient, rate);
        clear(&mut self.gradient);
    }
}
