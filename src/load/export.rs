//! From a model to a checkpoint.

use super::Scheme;
use crate::{image::Part, parameters::Parameters};
use safetensors::{Dtype, tensor::TensorView};
use std::{
    collections::BTreeMap,
    error::Error,
    fmt, format, io,
    path::Path,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// Writes `model` as a safetensors file, its tensors named and stored as the scheme `S` has it: whole or not at all. PyTorch opens it, and
/// [`Checkpoint`](super::Checkpoint) too.
///
/// Numbers are `F32`. Of a tied head, the table is written once, as transformers does it. What a model has no part for, as a pooler, is not
/// there; rows that it has none for, the first two positions of RoBERTa, are 0.
///
/// ```
/// use constformer::{Encoder, Vit, boxed, load::{Checkpoint, TorchEncoder, export}};
///
/// let path = std::env::temp_dir().join("constformer-export.safetensors");
/// let mut encoder = boxed::<Encoder<Vit, 2, 16, 32, 4>>();
/// export::<TorchEncoder>(&*encoder, &path)?;
/// Checkpoint::open(&path)?.load::<TorchEncoder>(&mut *encoder)?; // `encoder.load_state_dict(load_file(path))` in Python
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ExportError`] if the scheme has no name for a tensor, or the file cannot be written; then what was there is as it was.
pub fn export<S: Scheme>(model: &impl Parameters, path: impl AsRef<Path>) -> Result<(), ExportError> {
    let bytes = serialized::<S>(model)?;
    Part::write(path.as_ref(), |write| write(&bytes)).and_then(Part::put).map_err(ExportError::File)
}

fn serialized<S: Scheme>(model: &impl Parameters) -> Result<Vec<u8>, ExportError> {
    let mut tensors: BTreeMap<String, (Vec<usize>, Vec<u8>)> = BTreeMap::new();
    let mut unknown = Vec::new();
    model.for_each_tensor(|name, tensor| {
        let Some(origin) = S::origin(&name.to_string()) else { return unknown.push(name.to_string()) };
        let shape = origin.shape(tensor.shape());
        let size = 4 * shape.iter().product::<usize>();
        let (_, bytes) = tensors.entry(origin.name().into()).or_insert_with(|| (shape, vec![0; size]));
        let (places, _) = bytes.as_chunks_mut();
        for (place, number) in origin.places(tensor.shape()).zip(tensor.row_major()) {
            if let Some(to) = places.get_mut(place) {
                *to = number.to_le_bytes();
            }
        }
    });
    if !unknown.is_empty() {
        return Err(ExportError::Unknown { tensors: unknown });
    }
    let views = tensors.iter().map(|(name, (shape, bytes))| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(|error| invalid(&error))?;
        Ok((name, view))
    });
    let views: Vec<_> = views.collect::<Result<_, ExportError>>()?;
    // What PyTorch's loaders look for in a file.
    let metadata = [(String::from("format"), String::from("pt"))].into_iter().collect();
    safetensors::serialize(views, Some(metadata)).map_err(|error| invalid(&error))
}

fn invalid(error: &safetensors::SafeTensorError) -> ExportError {
    ExportError::File(io::Error::new(io::ErrorKind::InvalidData, format!("{error}")))
}

/// A model cannot be written as a checkpoint.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The scheme has no name for some tensors of the model.
    Unknown {
        /// Their names in the model.
        tensors: Vec<String>,
    },
    /// The file cannot be written.
    File(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { tensors } => {
                write!(f, "checkpoints of this kind have no tensor for {}", tensors.join(", "))
            }
            Self::File(error) => error.fmt(f),
        }
    }
}

impl Error for ExportError {} // its text is that of its cause
