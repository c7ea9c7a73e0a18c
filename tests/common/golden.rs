//! Golden files, and models filled from them.

use constformer::{Parameters, load::Checkpoint};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::BTreeMap;

/// The tensors of a file by name. They are taken out one by one, so that what is left over is known.
#[derive(Clone, Default)]
pub struct Golden {
    pub tensors: BTreeMap<String, Values>,
    /// What the file says about itself.
    pub reference: String,
}

#[derive(Clone, PartialEq)]
pub struct Values {
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
}

impl Golden {
    /// A file of `tests/golden`.
    pub fn open(file: &str) -> Self {
        Self::read(&format!("tests/golden/{file}"))
    }

    /// A file of the real models, `None` and a word on it if they are not here: they are no part of the repository.
    pub fn model(file: &str) -> Option<Self> {
        let Ok(models) = std::env::var("CONSTFORMER_MODELS") else {
            println!("skipped: CONSTFORMER_MODELS does not say where the real models are");
            return None;
        };
        Some(Self::read(&format!("{models}/{file}")))
    }

    /// A file by its path, that of the package being where it starts.
    pub fn read(path: &str) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let reference = header.metadata().as_ref().and_then(|texts| texts.get("reference").cloned());
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.tensors().into_iter().map(|(name, tensor)| {
            let numbers = match tensor.dtype() {
                Dtype::F32 => tensor.data().as_chunks().0.iter().map(|x| f32::from_le_bytes(*x).into()).collect(),
                Dtype::I64 => tensor.data().as_chunks().0.iter().map(|x| i64::from_le_bytes(*x) as f64).collect(),
                Dtype::U8 => tensor.data().iter().map(|x| f64::from(*x)).collect(),
                Dtype::F64 => tensor.data().as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect(),
                other => panic!("{name} is of type {other:?}"),
            };
            (name, Values { shape: tensor.shape().to_vec(), numbers })
        });
        Self { tensors: tensors.collect(), reference: reference.unwrap_or_default() }
    }

    /// Takes the tensors whose names begin with `prefix`; theirs are what follows it.
    pub fn part(&mut self, prefix: &str) -> Self {
        let (part, rest) =
            std::mem::take(&mut self.tensors).into_iter().partition(|(name, _)| name.starts_with(prefix));
        self.tensors = rest;
        let part: BTreeMap<_, _> = part;
        Self {
            tensors: part.into_iter().map(|(name, values)| (name[prefix.len()..].to_string(), values)).collect(),
            reference: self.reference.clone(),
        }
    }

    pub fn take(&mut self, name: &str) -> Values {
        self.tensors.remove(name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// PyTorch's names become ours, and query, key and value, which it keeps in one matrix, become three.
    #[allow(clippy::wrong_self_convention, reason = "the names it makes are ours, those it takes are PyTorch's")]
    pub fn from_torch(self) -> Self {
        const NAMES: [(&str, &str); 6] = [
            ("layers.", "blocks."),
            ("self_attn.out_proj", "attention.output"),
            ("linear1", "feed_forward.inner"),
            ("linear2", "feed_forward.outer"),
            ("norm1", "attention_norm"),
            ("norm2", "feed_forward_norm"),
        ];
        let mut ours = BTreeMap::new();
        for (name, values) in self.tensors {
            let name = NAMES.iter().fold(name, |name, (theirs, ours)| name.replace(theirs, ours));
            if let Some((block, kind)) = name.split_once("self_attn.in_proj_") {
                for (projection, part) in ["query", "key", "value"].iter().zip(values.thirds()) {
                    ours.insert(format!("{block}attention.{projection}.{kind}"), part);
                }
            } else {
                ours.insert(name, values);
            }
        }
        Self { tensors: ours, ..self }
    }

    /// The tensors as a checkpoint, whose names a scheme knows.
    pub fn checkpoint(&self) -> Checkpoint<'static> {
        let bytes = |values: &Values| values.to_f32().iter().flat_map(|x| x.to_le_bytes()).collect();
        let stored: Vec<(_, Vec<u8>, _)> =
            self.tensors.iter().map(|(name, values)| (name, bytes(values), values)).collect();
        let views = stored
            .iter()
            .map(|(name, bytes, values)| (name, TensorView::new(Dtype::F32, values.shape.clone(), bytes).unwrap()));
        Checkpoint::from_bytes(safetensors::serialize(views, None).unwrap()).unwrap()
    }

    /// Fills `model`. An error if a tensor is missing, of another shape, or left over.
    pub fn load(mut self, model: &mut impl Parameters) -> Result<(), String> {
        let mut result = Ok(());
        model.for_each_tensor_mut(|name, mut tensor| {
            let (name, shape) = (name.to_string(), tensor.shape());
            let filled = match self.tensors.remove(&name) {
                None => Err(format!("{name} is missing")),
                Some(values) if values.shape != shape.dimensions() => {
                    Err(format!("{name} is of shape {:?} and not {shape}", values.shape))
                }
                Some(values) => {
                    let numbers = values.numbers.iter().map(|x| *x as f32);
                    tensor.set_row_major(numbers).map_err(|error| error.to_string())
                }
            };
            if result.is_ok() {
                result = filled;
            }
        });
        match self.tensors.keys().next() {
            Some(name) => result.and(Err(format!("{name} is left over"))),
            None => result,
        }
    }
}

impl Values {
    /// The numbers as rows of `D`.
    pub fn rows<const D: usize>(&self) -> Vec<[f32; D]> {
        assert_eq!(self.shape.last(), Some(&D));
        self.numbers.as_chunks().0.iter().map(|row| row.map(|x| x as f32)).collect()
    }

    pub fn to_f32(&self) -> Vec<f32> {
        self.numbers.iter().map(|x| *x as f32).collect()
    }

    /// A third of the rows each.
    pub fn thirds(&self) -> impl Iterator<Item = Self> {
        let mut shape = self.shape.clone();
        shape[0] /= 3;
        let count = shape.iter().product();
        self.numbers.chunks(count).map(move |numbers| Self { shape: shape.clone(), numbers: numbers.to_vec() })
    }
}
