//! Activations against those of another implementation.

use super::{
    Agreement, Checkpoint, CompareError, Compared, Departure, Origin, Scheme, checkpoint::Stored, numbers::Numbers,
};
use crate::{observe::Observer, parameters::Name};
use core::{error::Error, fmt};
use std::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

/// Compares what a model does with `reference`, the outputs of the modules of another implementation, activation by activation.
///
/// `reference` is a safetensors file of activations, of one sequence. With PyTorch it is written so:
///
/// ```python
/// activations = {}
///
/// def keep(name):
///     def hook(module, inputs, output):
///         output = output[0] if isinstance(output, tuple) else output
///         if isinstance(output, torch.Tensor):
///             activations[name] = output.detach().contiguous().clone()
///     return hook
///
/// for name, module in model.named_modules():
///     if name:
///         module.register_forward_hook(keep(name))
/// model(ids)  # with gradients: PyTorch's fast path for inference calls no module
/// save_file(activations, "activations.safetensors")
/// ```
///
/// The scheme `S` is the one that the parameters were loaded by: it knows which module is which part of the model. What the file calls
/// as this library does (the names of [`Observer`]) is compared too, whatever the scheme.
///
/// Numbers agree if |found - expected| ≤ `tolerance` (1 + |expected|). `forward` lets the model be observed:
///
/// ```no_run
/// use constformer::{Bert, BertEmbedding, Encoder, Memory, TextEncoder, boxed};
/// use constformer::load::{Checkpoint, HuggingFaceBert, compare};
///
/// type MiniLm = TextEncoder<BertEmbedding<30_522, 384, 512>, Encoder<Bert, 6, 384, 1536, 12>, 384>;
///
/// # let model = boxed::<MiniLm>();
/// # let mut memory = boxed::<Memory<MiniLm, 128>>();
/// # let ids = [101, 7592, 102];
/// let reference = Checkpoint::open("activations.safetensors")?;
/// let agreement = compare::<HuggingFaceBert, _>(&reference, 1e-4, |seen| model.observe(&ids, &mut memory, seen))?;
/// println!("{agreement}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CompareError::Departs`] names the first activation, in the order in which the model computes them, that departs: the fault lies
/// between that and the one before it. The others say that something cannot be compared at all.
pub fn compare<S: Scheme, T: Outcome>(
    reference: &Checkpoint<'_>,
    tolerance: f32,
    forward: impl FnOnce(&mut Comparison<'_>) -> T,
) -> Result<Agreement, CompareError> {
    let tensors = reference.tensors.iter().map(|(name, stored)| (S::canonical(name), Reference { name, stored }));
    let mut comparison = Comparison {
        reference,
        tensors: tensors.collect(),
        module: S::activation,
        tolerance: tolerance.into(),
        parts: Vec::new(),
        places: BTreeMap::new(),
    };
    forward(&mut comparison).failure().map_or(Ok(()), |error| Err(CompareError::Forward(error)))?;
    comparison.finish()
}

/// What a forward pass returned: nothing, or a `Result`.
pub trait Outcome {
    /// Why it did not come to its end.
    fn failure(self) -> Option<Box<dyn Error>>;
}

impl Outcome for () {
    fn failure(self) -> Option<Box<dyn Error>> {
        None
    }
}

impl<T, E: Error + 'static> Outcome for Result<T, E> {
    fn failure(self) -> Option<Box<dyn Error>> {
        self.err().map(|error| Box::new(error) as _)
    }
}

/// The observer of a model that is [compared](compare).
pub struct Comparison<'a> {
    reference: &'a Checkpoint<'a>,
    /// By canonical name.
    tensors: BTreeMap<String, Reference<'a>>,
    module: fn(&str) -> Option<Origin>,
    tolerance: f64,
    /// In the order in which they are seen first.
    parts: Vec<Part<'a>>,
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Copy)]
struct Reference<'a> {
    name: &'a str,
    stored: &'a Stored,
}

/// An activation, as far as it was seen.
struct Part<'a> {
    name: String,
    /// `None` if the reference has no such activation.
    reference: Option<(Reference<'a>, Option<Numbers<'a>>, Origin)>,
    features: usize,
    tokens: usize,
    /// Tokens that the reference does not have, or not as wide.
    misfits: usize,
    difference: f64,
    departed: usize,
    worst: Option<Number>,
}

/// A number that departs.
#[derive(Clone, Copy)]
struct Number {
    token: usize,
    feature: usize,
    expected: f32,
    found: f32,
    /// In units of what is allowed.
    excess: f64,
}

impl fmt::Debug for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparison").field("seen", &self.places.keys()).finish_non_exhaustive()
    }
}

impl<'a> Comparison<'a> {
    fn part(&mut self, name: &Name<'_>) -> Option<&mut Part<'a>> {
        let name = name.to_string();
        let place = self.places.get(&name).copied().unwrap_or_else(|| {
            let same = self.tensors.get(&name).map(|tensor| (*tensor, Origin::new(name.as_str())));
            let reference = same.or_else(|| {
                let origin = (self.module)(&name)?;
                Some((*self.tensors.get(origin.name())?, origin))
            });
            self.parts.push(Part {
                name: name.clone(),
                reference: reference.map(|(tensor, origin)| (tensor, self.reference.numbers(tensor.stored), origin)),
                features: 0,
                tokens: 0,
                misfits: 0,
                difference: 0.0,
                departed: 0,
                worst: None,
            });
            self.places.insert(name, self.parts.len() - 1);
            self.parts.len() - 1
        });
        self.parts.get_mut(place)
    }

    fn finish(self) -> Result<Agreement, CompareError> {
        let mut agreement = Agreement { compared: Vec::new(), unseen: Vec::new() };
        for part in &self.parts {
            let Some((reference, numbers, _)) = &part.reference else { continue };
            let (name, theirs) = (part.name.clone(), reference.name.to_owned());
            let shape = reference.stored.shape.clone();
            if numbers.is_none() {
                return Err(CompareError::Unreadable { reference: theirs, dtype: reference.stored.dtype.to_string() });
            }
            if part.misfits > 0 || shape.iter().rev().skip(1).product::<usize>() != part.tokens {
                let found = [part.tokens, part.features];
                return Err(CompareError::Shape { name, reference: theirs, expected: shape, found });
            }
            if let Some(Number { token, feature, expected, found, .. }) = part.worst {
                return Err(CompareError::Departs(Box::new(Departure {
                    name,
                    reference: theirs,
                    token,
                    feature,
                    expected,
                    found,
                    count: part.departed,
                    before: agreement,
                })));
            }
            agreement.compared.push(Compared { name, reference: theirs, difference: part.difference });
        }
        if agreement.compared.is_empty() {
            return Err(CompareError::NothingInCommon {
                seen: self.parts.into_iter().map(|part| part.name).collect(),
                reference: self.tensors.values().map(|tensor| tensor.name.to_owned()).collect(),
            });
        }
        let known = |name: &str| agreement.compared.iter().any(|compared| compared.reference == name);
        let unseen = self.tensors.values().filter(|tensor| !known(tensor.name));
        agreement.unseen = unseen.map(|tensor| tensor.name.to_owned()).collect();
        Ok(agreement)
    }
}

impl Observer for Comparison<'_> {
    fn see(&mut self, name: &Name<'_>, token: usize, values: &[f32]) {
        let tolerance = self.tolerance;
        if let Some(part) = self.part(name) {
            part.see(token, values, tolerance);
        }
    }
}

impl Part<'_> {
    fn see(&mut self, token: usize, values: &[f32], tolerance: f64) {
        (self.features, self.tokens) = (values.len(), self.tokens.max(token + 1));
        let Some((reference, Some(numbers), origin)) = &self.reference else { return };
        let [first, width] = origin.columns(values.len());
        if reference.stored.shape.last() != Some(&width) {
            self.misfits += 1;
            return;
        }
        for (feature, found) in values.iter().enumerate() {
            let Some(expected) = numbers.get(token * width + first + feature) else {
                self.misfits += 1;
                return;
            };
            let difference = (f64::from(*found) - f64::from(expected)).abs();
            let excess = difference / (tolerance * (1.0 + f64::from(expected.abs())));
            // A NaN departs.
            if difference <= tolerance * (1.0 + f64::from(expected.abs())) {
                self.difference = self.difference.max(difference);
                continue;
            }
            self.departed += 1;
            if self.worst.is_none_or(|worst| excess > worst.excess || excess.is_nan() && !worst.excess.is_nan()) {
                self.worst = Some(Number { token, feature, expected, found: *found, excess });
            }
        }
    }
}

/// The module whose output is the activation `name`: the one that has its parameters.
pub(super) fn module<S: Scheme + ?Sized>(name: &str) -> Option<Origin> {
    if name == "embedding" {
        return S::EMBEDDING.map(Origin::new);
    }
    let of = |parameter: &str| S::origin(&std::format!("{name}.{parameter}"));
    // A linear map or a norm; or the last map of a sub-layer.
    if let Some(origin) = ["weight", "output.weight", "outer.weight"].into_iter().find_map(of) {
        return origin.module();
    }
    // A block is what all of its modules are below.
    let norm = of("attention_norm.weight").or_else(|| of("self_attention_norm.weight"))?;
    let inner = of("feed_forward.inner.weight")?;
    let common = norm.name().split('.').zip(inner.name().split('.')).take_while(|(a, b)| a == b);
    let common: Vec<_> = common.map(|(a, _)| a).collect();
    (!common.is_empty()).then(|| Origin::new(common.join(".")))
}
