//! Safetensors files, valid ones and worse ones.

use arbitrary::Arbitrary;
use constformer::{
    Parameters, boxed,
    load::{Checkpoint, Fault, LoadError, Scheme},
};
use std::collections::BTreeMap;

/// A tensor of a file.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The type of its numbers.
    pub dtype: &'static str,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The file that it is in, of two.
    pub shard: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is done to a valid file. Tensors are chosen modulo how many there are.
#[derive(Arbitrary, Debug)]
pub enum Edit {
    /// It is not there.
    Drop(u8),
    /// It is called otherwise.
    Rename(u8, String),
    /// Its name begins otherwise.
    Prefix(u8, u8),
    /// It is of another type.
    Type(u8, u8),
    /// It is of another shape.
    Shape(u8, Vec<u8>),
    /// Its shape is the other way round.
    Transpose(u8),
    /// One of its numbers is another.
    Number(u8, u16, u64),
    /// It is in the other file.
    Move(u8),
    /// It is there twice.
    Copy(u8),
    /// There is one more.
    Add(u8, Vec<u8>),
}

const PREFIXES: [&str; 8] =
    ["bert.", "roberta.", "transformer.", "model.", "module.", "_orig_mod.", "encoder.", "layers.0."];
const DTYPES: [(&str, usize); 8] =
    [("F32", 4), ("F64", 8), ("F16", 2), ("BF16", 2), ("I32", 4), ("U8", 1), ("BOOL", 1), ("I64", 8)];
const EXTRAS: [&str; 8] = [
    "lm_head.weight",
    "pooler.dense.weight",
    "cls.predictions.bias",
    "embeddings.position_ids",
    "h.0.attn.bias",
    "rotary_emb.inv_freq",
    "output.weight",
    "",
];

impl Tensor {
    fn new(name: impl Into<String>, shape: &[usize]) -> Self {
        let mut tensor = Self { name: name.into(), dtype: "F32", shape: shape.into(), shard: 0, bytes: vec![] };
        tensor.fill();
        tensor
    }

    /// As many numbers as its shape and type want, all of them 1; but not more than 1024.
    fn fill(&mut self) {
        let count = self.shape.iter().product::<usize>().min(1024);
        let one: &[u8] = match self.dtype {
            "F32" => &1f32.to_le_bytes(),
            "F64" => &1f64.to_le_bytes(),
            "F16" => &0x3C00u16.to_le_bytes(),
            "BF16" => &0x3F80u16.to_le_bytes(),
            dtype => &[0; 8][..DTYPES.iter().find(|(name, _)| *name == dtype).map_or(1, |(_, size)| *size)],
        };
        self.bytes = one.repeat(count);
    }
}

impl Edit {
    /// Applies it.
    pub fn apply(&self, tensors: &mut Vec<Tensor>) {
        let shape = |shape: &[u8]| shape.iter().take(4).map(|n| usize::from(*n)).collect::<Vec<_>>();
        let count = tensors.len().max(1);
        let (Self::Drop(i)
        | Self::Rename(i, _)
        | Self::Prefix(i, _)
        | Self::Type(i, _)
        | Self::Shape(i, _)
        | Self::Transpose(i)
        | Self::Number(i, ..)
        | Self::Move(i)
        | Self::Copy(i)
        | Self::Add(i, _)) = self;
        if let Self::Add(i, dimensions) = self {
            tensors.push(Tensor::new(EXTRAS[usize::from(*i) % 8], &shape(dimensions)));
        }
        let i = usize::from(*i) % count;
        let Some(tensor) = tensors.get_mut(i) else { return };
        match self {
            Self::Drop(_) => drop(tensors.remove(i)),
            Self::Rename(_, name) => tensor.name.clone_from(name),
            Self::Prefix(_, prefix) => tensor.name.insert_str(0, PREFIXES[usize::from(*prefix) % 8]),
            Self::Type(_, dtype) => {
                tensor.dtype = DTYPES[usize::from(*dtype) % 8].0;
                tensor.fill();
            }
            Self::Shape(_, dimensions) => {
                tensor.shape = shape(dimensions);
                tensor.fill();
            }
            Self::Transpose(_) => tensor.shape.reverse(),
            Self::Number(_, place, bits) => {
                let size = DTYPES.iter().find(|(name, _)| *name == tensor.dtype).map_or(1, |(_, size)| *size);
                let count = (tensor.bytes.len() / size).max(1);
                let place = usize::from(*place) % count * size;
                if let Some(number) = tensor.bytes.get_mut(place..place + size) {
                    number.copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
            Self::Move(_) => tensor.shard = 1 - tensor.shard,
            Self::Copy(_) => {
                let mut copy = tensor.clone();
                copy.shard = 1 - copy.shard;
                tensors.push(copy);
            }
            Self::Add(..) => {}
        }
    }
}

/// The two files.
#[must_use]
pub fn files(tensors: &[Tensor]) -> [Vec<u8>; 2] {
    [0, 1].map(|shard| {
        let (mut header, mut data) = (String::from("{"), vec![]);
        for Tensor { name, dtype, shape, bytes, .. } in tensors.iter().filter(|tensor| tensor.shard == shard) {
            let comma = if data.is_empty() && header.len() == 1 { "" } else { "," };
            let (name, start, end) = (serde_json::Value::from(name.as_str()), data.len(), data.len() + bytes.len());
            header += &format!(
                "{comma}{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
            );
            data.extend_from_slice(bytes);
        }
        header += "}";
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
    })
}

/// The tensors of a valid file. Their names and shapes are what the errors of files without them ask for.
#[must_use]
pub fn valid<M: Parameters, S: Scheme>() -> Vec<Tensor> {
    let mut shapes = BTreeMap::new();
    loop {
        let tensors: Vec<_> = shapes.iter().map(|(name, shape): (&String, &Vec<_>)| Tensor::new(name, shape)).collect();
        let file =
            Checkpoint::from_bytes(files(&tensors).into_iter().next().unwrap_or_default()).expect("a valid file");
        let faults = match file.load::<S>(&mut *boxed::<M>()) {
            Ok(()) => return tensors,
            Err(LoadError::Tensors { faults, .. }) => faults,
            Err(error) => panic!("{error}"),
        };
        for fault in faults {
            match fault {
                Fault::Missing { origin, .. } => shapes.insert(origin, vec![1]),
                Fault::Shape { origin, expected, .. } => shapes.insert(origin, expected),
                fault => panic!("{fault}"),
            };
        }
    }
}
