//! Models whose tensors can be visited, whether rustc knows their type or not.

use super::{Fingerprint, Parameters, TypeName, Visit, VisitMut};
use core::fmt::Display;

/// A model of a type ([`Parameters`]), or one of a blueprint, which only the running program knows.
pub(crate) trait Walk {
    /// Its type in Rust, for people.
    fn description(&self) -> impl Display;

    fn fingerprint(&self) -> Fingerprint;

    /// Bytes of its weights.
    fn bytes(&self) -> u64;

    fn tensors<'a>(&'a self, visit: Visit<'_, 'a>);

    #[cfg_attr(not(feature = "safetensors"), expect(dead_code, reason = "only checkpoints write"))]
    fn tensors_mut<'a>(&'a mut self, visit: VisitMut<'_, 'a>);
}

impl<M: Parameters> Walk for M {
    fn description(&self) -> impl Display {
        TypeName::of::<M>()
    }

    fn fingerprint(&self) -> Fingerprint {
        M::FINGERPRINT
    }

    fn bytes(&self) -> u64 {
        size_of::<M>() as u64
    }

    fn tensors<'a>(&'a self, visit: Visit<'_, 'a>) {
        self.for_each_tensor(visit);
    }

    fn tensors_mut<'a>(&'a mut self, visit: VisitMut<'_, 'a>) {
        self.for_each_tensor_mut(visit);
    }
}
