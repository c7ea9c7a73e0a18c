//! To adapters of low rank, and back.

use super::{Initialization, optimizer::nth_tensor};
use crate::{
    parameters::{Parameters, Shape},
    sampling::Rng,
};
use core::{error::Error, fmt};

/// `adapted`, a model in the format [`Lora`](crate::Lora), becomes `model` with adapters: A is U(±1 / √in), B is 0, so it computes what
/// `model` does.
///
/// # Errors
///
/// [`OtherModel`] if the two differ by more than the adapters; then `adapted` is what it was.
///
/// ```
/// use constformer::{training::*, *};
/// use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
///
/// type Gpt<T = f32> = LanguageModel<TextEmbedding<11, 16, 8>, Decoder<Gpt2, 2, 16, 64, 4, T>, 16, 11>;
///
/// let mut model = boxed::<Gpt>();
/// let mut rng = SplitMix64::seed_from_u64(17);
/// Initialization::ScaledNormal.fill(&mut *model, &mut rng);
/// let mut adapted = boxed::<Gpt<Lora<2>>>();
/// adapt(&*model, &mut *adapted, &mut rng)?;
///
/// let mut gradient = boxed::<Gradient<Gpt<Lora<2>>>>(); // without the matrices
/// assert!(size_of_val(&*gradient) * 2 < size_of_val(&*model));
/// let mut memory = boxed::<TrainingMemory<Gpt<Lora<2>>, 8>>();
/// adapted.backward(&[3, 1, 4], &[1, 4, 1], Pass::new(1.0 / 3.0), &mut gradient, &mut memory)?;
/// Sgd::default().plain_step(&mut *adapted, &*gradient, 0.1);
///
/// merge(&*adapted, &mut *model)?; // a plain model again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adapt<M: Parameters, A: Parameters>(
    model: &M,
    adapted: &mut A,
    rng: &mut (impl Rng + ?Sized),
) -> Result<(), OtherModel> {
    OtherModel::check(model, adapted)?;
    let mut n = 0;
    adapted.for_each_tensor_mut(|name, mut to| match name.last() {
        Some("down") => Initialization::PyTorch.fill_map(to.shape(), to.stored_mut(), rng),
        Some("up") => to.stored_mut().fill(0.0),
        _ => {
            if let Some(from) = nth_tensor(model, n) {
                to.stored_mut().copy_from_slice(from.stored());
            }
            n += 1;
        }
    });
    Ok(())
}

/// `model` becomes `adapted`, a model in the format [`Lora`](crate::Lora), with W + B A as its matrices.
///
/// # Errors
///
/// [`OtherModel`] if the two differ by more than the adapters; then `model` is what it was.
pub fn merge<A: Parameters, M: Parameters>(adapted: &A, model: &mut M) -> Result<(), OtherModel> {
    OtherModel::check(model, adapted)?;
    let mut n = 0;
    model.for_each_tensor_mut(|_, mut to| {
        let Some(from) = nth_tensor(adapted, n) else { return };
        to.stored_mut().copy_from_slice(from.stored());
        n += 1;
        if !from.frozen {
            return;
        }
        if let (Some(down), Some(up)) = (nth_tensor(adapted, n), nth_tensor(adapted, n + 1)) {
            let ([rows, columns], [rank, _]) = (to.shape().extent(), down.shape().extent());
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let product: f32 = (0..rank).filter_map(|r| Some(up.get(r, row)? * down.get(r, column)?)).sum();
                to.set(row, column, from.get(row, column).unwrap_or_default() + product);
            }
        }
        n += 2;
    });
    Ok(())
}

/// Two models differ by more than adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OtherModel {
    /// The number of the first tensor without its like, adapters not counted.
    pub tensor: usize,
    /// Its shape in the plain model, if that has so many.
    pub plain: Option<Shape>,
    /// Its shape in the model with adapters, if that has so many.
    pub adapted: Option<Shape>,
}

impl OtherModel {
    fn check<M: Parameters, A: Parameters>(model: &M, adapted: &A) -> Result<(), Self> {
        let (mut tensor, mut result) = (0, Ok(()));
        adapted.for_each_tensor(|name, other| {
            if !matches!(name.last(), Some("down" | "up")) {
                let plain = nth_tensor(model, tensor).map(|tensor| tensor.shape());
                if result.is_ok() && plain != Some(other.shape()) {
                    result = Err(Self { tensor, plain, adapted: Some(other.shape()) });
                }
                tensor += 1;
            }
        });
        match nth_tensor(model, tensor) {
            Some(left) if result.is_ok() => Err(Self { tensor, plain: Some(left.shape()), adapted: None }),
            _ => result,
        }
    }
}

impl fmt::Display for OtherModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tensor, plain, adapted } = self;
        write!(f, "tensor {tensor} is ")?;
        match plain {
            Some(shape) => write!(f, "{shape}")?,
            None => f.write_str("none")?,
        }
        f.write_str(" in the plain model, and ")?;
        match adapted {
            Some(shape) => write!(f, "{shape}")?,
            None => f.write_str("none")?,
        }
        f.write_str(" in the one with adapters")
    }
}

impl Error for OtherModel {}
