//! Numbers of a file as `f32`.

use half::{bf16, f16};
use safetensors::Dtype;

/// The numbers of a tensor where they lie, at any address.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    F64(&'a [[u8; 8]]),
    F32(&'a [[u8; 4]]),
    F16(&'a [[u8; 2]]),
    Bf16(&'a [[u8; 2]]),
}

impl<'a> Numbers<'a> {
    /// `None` if they are of a type that is not read.
    pub(super) fn new(dtype: Dtype, bytes: &'a [u8]) -> Option<Self> {
        Some(match dtype {
            Dtype::F64 => Self::F64(bytes.as_chunks().0),
            Dtype::F32 => Self::F32(bytes.as_chunks().0),
            Dtype::F16 => Self::F16(bytes.as_chunks().0),
            Dtype::BF16 => Self::Bf16(bytes.as_chunks().0),
            _ => return None,
        })
    }

    /// The number at `place`; one of `f64` that is too large is infinite.
    pub(super) fn get(&self, place: usize) -> Option<f32> {
        match self {
            Self::F64(x) => x.get(place).map(|x| f64::from_le_bytes(*x) as f32),
            Self::F32(x) => x.get(place).map(|x| f32::from_le_bytes(*x)),
            Self::F16(x) => x.get(place).map(|x| f16::from_le_bytes(*x).to_f32()),
            Self::Bf16(x) => x.get(place).map(|x| bf16::from_le_bytes(*x).to_f32()),
        }
    }
}
