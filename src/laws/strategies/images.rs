//! Images of models, damaged.

use super::model;
use crate::{Parameters, image};
use core::{fmt, marker::PhantomData};
use proptest::{
    prelude::{Just, any},
    prop_oneof,
    strategy::Strategy,
};
use std::vec::Vec;

/// What became of an image.
#[derive(Clone, Debug)]
pub enum Damage {
    /// Nothing.
    None,
    /// Of its bytes, only the first so many parts of 65536 are left.
    CutOff(u16),
    /// One bit is another: where, in parts of 65536, and which of the byte.
    Flipped(u16, u8),
    /// These bytes follow it.
    Longer(Vec<u8>),
    /// The first bytes are these.
    Overwritten(Vec<u8>),
}

/// An image of a model, and what became of it.
pub struct Damaged<M> {
    /// The model is that of [`model`].
    pub seed: u64,
    /// What became of its image.
    pub damage: Damage,
    kind: PhantomData<M>,
}

impl<M> fmt::Debug for Damaged<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "image of model({:#x}), {:?}", self.seed, self.damage)
    }
}

impl<M: Parameters> Damaged<M> {
    /// The bytes, and whether they are those of an image that nothing happened to.
    #[must_use]
    pub fn bytes(&self) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        image::encode(&*model::<M>(self.seed), |part| bytes.extend_from_slice(part));
        let (whole, part) = (bytes.clone(), |of: u16, len: usize| len * usize::from(of) / 65_536);
        match &self.damage {
            Damage::None => {}
            Damage::CutOff(at) => bytes.truncate(part(*at, whole.len())),
            Damage::Flipped(at, bit) => bytes[part(*at, whole.len())] ^= 1 << (bit % 8),
            Damage::Longer(more) => bytes.extend_from_slice(more),
            Damage::Overwritten(start) => bytes.iter_mut().zip(start).for_each(|(to, from)| *to = *from),
        }
        let is_whole = bytes == whole;
        (bytes, is_whole)
    }
}

/// Images of models with random parameters: whole, cut off, with one bit flipped, too long, or with another header.
pub fn damaged_images<M: Parameters>() -> impl Strategy<Value = Damaged<M>> {
    let some = |least| proptest::collection::vec(any::<u8>(), least..=48);
    let damage = prop_oneof![
        Just(Damage::None),
        any::<u16>().prop_map(Damage::CutOff),
        (any::<u16>(), 0_u8..8).prop_map(|(at, bit)| Damage::Flipped(at, bit)),
        some(1).prop_map(Damage::Longer),
        some(0).prop_map(Damage::Overwritten),
    ];
    (any::<u64>().no_shrink(), damage).prop_map(|(seed, damage)| Damaged { seed, damage, kind: PhantomData })
}
