//! The frameworks.

pub mod ours;
pub mod python;

#[cfg(feature = "burn")]
mod burn;
#[cfg(feature = "candle")]
mod candle;
mod nalgebra;
mod nalgebra_decoder;
#[path = "../../../nalgebra_encoder/mod.rs"]
mod nalgebra_encoder;
#[cfg(feature = "rten")]
mod rten;
#[cfg(feature = "tract")]
mod tract;

use crate::workload::Workload;
use std::rc::Rc;

/// A stack of a framework, with its weights and what it is given.
pub trait Peer {
    /// A forward pass. With a past, each starts from the same one.
    fn forward(&mut self);

    /// What the last forward pass returned: `[tokens, d_model]`.
    fn output(&mut self) -> Vec<f32>;
}

/// What is remembered of earlier tokens, layer by layer: keys and values, each `[past, d_model]`.
pub type Past = Rc<Vec<[Vec<f32>; 2]>>;

/// A framework of this program.
#[derive(Clone, Copy)]
pub struct Framework {
    /// As it is called in tables.
    pub name: &'static str,
    /// Makes a stack.
    pub load: fn(&Workload, &Past) -> Box<dyn Peer>,
}

/// All frameworks that were compiled in, ours first.
#[must_use]
pub fn all() -> Vec<Framework> {
    vec![
        Framework { name: "constformer", load: |workload, _| (workload.ours)(&workload.shape) },
        #[cfg(feature = "rten")]
        Framework { name: "rten", load: rten::load },
        #[cfg(feature = "candle")]
        Framework { name: "candle", load: candle::load },
        #[cfg(feature = "burn")]
        Framework { name: "burn", load: burn::load },
        #[cfg(feature = "tract")]
        Framework { name: "tract", load: tract::load },
        Framework { name: "nalgebra", load: nalgebra::load },
    ]
}

/// Keys and values of the tokens before those of the workload; none if there are no such tokens.
#[must_use]
pub fn past(workload: &Workload) -> Past {
    if workload.shape.past == 0 {
        return Past::default();
    }
    nalgebra_decoder::Decoder::load(&workload.shape).past()
}
