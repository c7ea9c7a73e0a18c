//! Models of one's own.

/// Declares a struct of layers as a model: plain data in flash, with named parameters, a fingerprint and a `ZERO`
///
/// What it computes is up to its methods. The name of the struct is a part of the fingerprint, and so is the order of the
/// fields. If this crate goes by another name in yours, say `extern crate that_name as constformer;` in its root.
///
/// ```
/// use constformer::*;
///
/// model! {
///     /// Predicts the next of a series of three-dimensional measurements.
///     pub struct Forecaster {
///         pub embedding: Linear<3, 32>,
///         pub positions: LearnedPositions<32, 64>,
///         pub encoder: Encoder<Gpt2, 2, 32, 128, 4>,
///         pub head: Linear<32, 3>,
///     }
/// }
///
/// impl Forecaster {
///     fn forward(&self, series: &Sequence<3, 64>, memory: &mut Memory<Encoder<Gpt2, 2, 32, 128, 4>, 64>) -> [f32; 3] {
///         let Working { stream, scratch } = memory;
///         self.embedding.forward(series, stream);
///         self.positions.forward(stream);
///         self.encoder.forward(stream, scratch);
///         stream.tokens().last().map_or([0.0; 3], |last| self.head.apply(last))
///     }
/// }
///
/// static FORECASTER: Forecaster = Forecaster::ZERO;
/// assert_eq!(Forecaster::COUNT * 4, size_of::<Forecaster>());
/// ```
///
/// A layer with generics names them twice, as declared and as used:
///
/// ```
/// use constformer::*;
///
/// model! {
///     /// y = γ ⊙ x, for every token x alone
///     pub struct [const D_MODEL: usize] Gain<D_MODEL> {
///         pub weight: [f32; D_MODEL],
///     }
/// }
///
/// impl<const D_MODEL: usize> Norm<D_MODEL> for Gain<D_MODEL> {
///     fn forward(&self, tokens: &mut [[f32; D_MODEL]]) {
///         for token in tokens {
///             token.iter_mut().zip(&self.weight).for_each(|(x, weight)| *x *= weight);
///         }
///     }
/// }
/// ```
#[macro_export]
macro_rules! model {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct [$($generics:tt)*] $name:ident<$($parameter:ident),* $(,)?> {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive($crate::zerocopy::FromBytes, $crate::zerocopy::Immutable, $crate::zerocopy::KnownLayout)]
        #[zerocopy(crate = "constformer::zerocopy")]
        #[repr(C)]
        $visibility struct $name<$($generics)*> {
            $($(#[$field_attribute])* $field_visibility $field: $type),*
        }

        $crate::parameters! {
            [$($generics)*] $name<$($parameter),*> { $($field),* }
            structure: |fingerprint| fingerprint.name(stringify!($name));
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::model! { $(#[$attribute])* $visibility struct [] $name<> { $($fields)* } }
    };
}
