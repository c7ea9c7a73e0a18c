//! Models from one format of weights to another.

#[cfg(feature = "std")]
use crate::boxed::{Boxed, boxed};
use crate::{message::Message, parameters::Parameters};

/// The parameters of `model` in the formats of another type: that of the same model, but for the formats of its weights. Any other type does
/// not compile.
///
/// ```
/// use constformer::*;
///
/// type Kws<T = f32> = Classifier<PatchEmbedding<40, 64, 99, T>, Encoder<Kwt, 12, 64, 256, 1, T>, 64, 12, FirstToken, T>;
///
/// let model: Boxed<Kws> = boxed();
/// let small: Boxed<Kws<Int8>> = quantize(&*model);
/// assert!(size_of::<Kws<Int8>>() * 7 < size_of::<Kws>() * 2);
/// ```
#[cfg(feature = "std")]
#[must_use]
pub fn quantize<Q: Parameters>(model: &impl Parameters) -> Boxed<Q> {
    let mut quantized = boxed();
    quantize_to(model, &mut *quantized);
    quantized
}

/// [`quantize`] to where there is a model of the other type already; needs no heap.
pub fn quantize_to<M: Parameters, Q: Parameters>(model: &M, quantized: &mut Q) {
    const {
        if M::STRUCTURE.0 != Q::STRUCTURE.0 {
            Message::new()
                .text("these types differ by more than the formats of their weights, so the one is not what the other is quantised to: ")
                .text("structures ")
                .hexadecimal(M::STRUCTURE.0)
                .text(" and ")
                .hexadecimal(Q::STRUCTURE.0)
                .panic();
        }
    }
    // The tensors are the same in the same order. Two walks cannot go side by side without a heap, so one is taken anew for each tensor of
    // the other.
    let mut tensor = 0;
    quantized.for_each_tensor_mut(|_, mut to| {
        let mut other = 0;
        model.for_each_tensor(|_, from| {
            if other == tensor {
                to.set_all(from.row_major());
            }
            other += 1;
        });
        tensor += 1;
    });
}
