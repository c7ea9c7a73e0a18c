//! What the tensors of a checkpoint are called.

use super::{Origin, compare::module};
use std::string::{String, ToString};

/// The names and the storage of a kind of checkpoints.
///
/// One of your own:
///
/// ```
/// use constformer::load::{Checkpoint, Origin, Scheme};
/// use constformer::{Linear, Zero};
///
/// /// `fc.kernel`, inputs first, and `fc.bias`.
/// enum Keras {}
///
/// impl Scheme for Keras {
///     fn origin(name: &str) -> Option<Origin> {
///         match name {
///             "weight" => Some(Origin::new("fc.kernel").transposed()),
///             "bias" => Some(Origin::new("fc.bias")),
///             _ => None,
///         }
///     }
/// }
///
/// # let header = r#"{"fc.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
/// #     "fc.kernel":{"dtype":"F32","shape":[3,2],"data_offsets":[8,32]}}"#;
/// # let numbers = [1.0f32; 8].map(f32::to_le_bytes).concat();
/// # let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat();
/// let mut linear = Linear::<3, 2>::ZERO;
/// Checkpoint::from_bytes(file)?.load::<Keras>(&mut linear)?;
/// # assert_eq!(linear.apply(&[1.0, 2.0, 3.0]), [7.0; 2]);
/// # Ok::<(), constformer::load::LoadError>(())
/// ```
pub trait Scheme {
    /// The names of the head's matrix and of the embedding that it may be. If the former is not there, it is the latter; if the
    /// model has no head of its own, the former must not differ from the latter.
    const TIED: Option<[&'static str; 2]> = None;

    /// The module whose output enters the first block, for [`compare`](super::compare).
    const EMBEDDING: Option<&'static str> = None;

    /// Where a tensor of a model comes from, by its name in the model; `None` if such checkpoints have none for it.
    fn origin(name: &str) -> Option<Origin>;

    /// The name of a tensor of the file without what may or may not be part of it, a prefix above all. It is by these names
    /// that the scheme knows the tensors.
    #[must_use]
    fn canonical(name: &str) -> String {
        name.to_string()
    }

    /// Whether a model can do without the tensor, by its canonical name: a buffer, a mask, a head of another purpose.
    #[must_use]
    fn harmless(_name: &str) -> bool {
        false
    }

    /// The module whose output an activation is, by its name in the model, for [`compare`](super::compare); `None` if none is known.
    ///
    /// By default, a linear map, a norm and a block are the modules that have their parameters, and a sub-layer is its last linear map.
    #[must_use]
    fn activation(name: &str) -> Option<Origin> {
        module::<Self>(name)
    }
}
