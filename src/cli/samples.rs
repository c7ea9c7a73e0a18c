//! Samples with which two models are compared.

use super::Failure;
use crate::blueprint::Runner;
use core::fmt::Display;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    format, fs,
    io::{self, Write},
    panic::resume_unwind,
    path::Path,
    string::String,
    thread,
    vec::Vec,
};

/// Inputs of a classifier and, if they are known, their classes.
pub(super) struct Samples {
    /// Of each sample, all features of all its inputs.
    inputs: Vec<Vec<f32>>,
    labels: Option<Vec<usize>>,
}

impl Samples {
    /// Those of a safetensors file: the tensor `[samples, inputs, features]`, and, if there is one, a tensor `[samples]` of integers.
    pub(super) fn read(path: &Path, runner: &Runner) -> Result<Self, Failure> {
        let failure = |error: &dyn Display| Failure::file(path, error);
        let bytes = fs::read(path).map_err(|error| failure(&error))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| failure(&error))?;
        let tensors = file.tensors();
        let of_rank = |rank: usize, is: fn(Dtype) -> bool| {
            tensors
                .iter()
                .filter(move |(_, tensor)| tensor.shape().len() == rank && is(tensor.dtype()))
                .collect::<Vec<_>>()
        };
        let inputs = of_rank(3, |dtype| dtype == Dtype::F32);
        let [(name, tensor)] = inputs.as_slice() else {
            let text = "one tensor [samples, inputs, features] of F32 expected";
            return Err(failure(&format!("{text}, found {}", inputs.len())));
        };
        let (shape, Runner { features, inputs: most, .. }) = (tensor.shape(), runner);
        if shape[2] != *features || shape[1] > *most || shape.contains(&0) {
            return Err(failure(&format!("{name}: [samples, up to {most}, {features}] expected, found {shape:?}")));
        }
        let numbers: Vec<_> = tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(failure(&format!(
                "{name}: a finite number expected, found {} at place {place}",
                numbers[place]
            )));
        }
        let inputs: Vec<_> = numbers.chunks_exact(shape[1] * shape[2]).map(<[f32]>::to_vec).collect();
        let labels = of_rank(1, |dtype| integers(dtype).is_some());
        let labels = match labels.as_slice() {
            [] => None,
            [(name, tensor)] => {
                let classes = classes(tensor, inputs.len(), runner.classes());
                Some(classes.map_err(|text| failure(&format!("{name}: {text}")))?)
            }
            more => {
                return Err(failure(&format!(
                    "one tensor [samples] of integers expected at most, found {}",
                    more.len()
                )));
            }
        };
        Ok(Self { inputs, labels })
    }

    /// Says how often the models answer alike, and how often each is right.
    pub(super) fn compare(&self, before: &Runner, after: &Runner, out: &mut dyn Write) -> io::Result<()> {
        let [before, after] = [before, after].map(|runner| self.answers(runner));
        let percent = |part: usize| {
            let all = self.inputs.len();
            format!("{part} of {all}, {:.1} %", 100.0 * part as f64 / all.max(1) as f64)
        };
        let alike = before.iter().zip(&after).filter(|(before, after)| before == after).count();
        writeln!(out, "same answer  {}", percent(alike))?;
        if let Some(labels) = &self.labels {
            let right =
                |answers: &[usize]| answers.iter().zip(labels).filter(|(answer, label)| answer == label).count();
            writeln!(out, "right        {} before, {} after", percent(right(&before)), percent(right(&after)))?;
        }
        Ok(())
    }

    /// The class of each sample, on all processors.
    fn answers(&self, runner: &Runner) -> Vec<usize> {
        let threads = thread::available_parallelism().map_or(1, Into::into);
        let share = self.inputs.len().div_ceil(threads).max(1);
        let class = |inputs: &Vec<f32>| {
            let logits = runner.logits(inputs);
            (0..logits.len()).fold(0, |best, class| if logits[class] > logits[best] { class } else { best })
        };
        thread::scope(|scope| {
            let shares =
                self.inputs.chunks(share).map(|share| scope.spawn(|| share.iter().map(class).collect::<Vec<_>>()));
            let shares = shares.collect::<Vec<_>>();
            let answers = shares.into_iter().map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)));
            answers.flatten().collect()
        })
    }
}

/// Bytes of an integer of that type.
const fn integers(dtype: Dtype) -> Option<usize> {
    match dtype {
        Dtype::U8 | Dtype::I8 => Some(1),
        Dtype::U16 | Dtype::I16 => Some(2),
        Dtype::U32 | Dtype::I32 => Some(4),
        Dtype::U64 | Dtype::I64 => Some(8),
        _ => None,
    }
}

fn classes(tensor: &TensorView<'_>, samples: usize, count: usize) -> Result<Vec<usize>, String> {
    if tensor.shape() != [samples] {
        return Err(format!("[{samples}] expected, found {:?}", tensor.shape()));
    }
    let size = integers(tensor.dtype()).unwrap_or(1);
    // Little-endian, and no class has a number that does not fit.
    let class =
        |bytes: &[u8]| bytes.iter().rev().fold(0usize, |class, byte| class.wrapping_shl(8) | usize::from(*byte));
    let classes: Vec<_> = tensor.data().chunks_exact(size).map(class).collect();
    match classes.iter().position(|class| *class >= count) {
        Some(place) => Err(format!("classes from 0 to {} expected, found another at place {place}", count - 1)),
        None => Ok(classes),
    }
}
