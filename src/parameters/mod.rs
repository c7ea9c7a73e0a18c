//! The parameters of a model as a list of named tensors: the one walk that the writer of images, loaders, optimizers,
//! quantisers, inspectors and tests share.

mod fingerprint;
mod model;
mod numbers;
mod table;
mod tensor;
mod type_name;
mod walk;

pub use fingerprint::Fingerprint;
pub use numbers::{AsNumbers, Numbers, NumbersMut};
pub use table::Table;
pub(crate) use tensor::Layout;
pub use tensor::{Name, Shape, Tensor, WrongCount};
pub(crate) use type_name::TypeName;
#[doc(hidden)]
pub use type_name::debug;
pub(crate) use walk::Walk;

use crate::plain::{Plain, Zero};
use core::marker::PhantomData;

/// Visits a tensor by name.
pub type Visit<'v, 'a> = &'v mut dyn FnMut(&Name<'_>, Tensor<Numbers<'a>>);
/// Visits a tensor by name, to change it.
pub type VisitMut<'v, 'a> = &'v mut dyn FnMut(&Name<'_>, Tensor<NumbersMut<'a>>);

/// Something with parameters: a layer, a block, a model, or a part of one.
///
/// The order of the tensors is that of the fields, and of the bytes in memory. Implement it for a struct of your own with
/// [`model!`](crate::model).
pub trait Parameters: Plain + Zero + Sized {
    /// Number of parameters.
    const COUNT: usize;
    /// The structure of the type.
    const FINGERPRINT: Fingerprint;
    /// The structure of the type, whatever the formats of its matrices: that of a model and of what it is quantised to are the same.
    const STRUCTURE: Fingerprint = Self::FINGERPRINT;
    /// The sizes of the parts in bytes, added up: that of the type itself, or there would be padding between them.
    #[doc(hidden)]
    const SIZE: usize = size_of::<Self>();

    /// Visits every tensor, in order; their names begin with `name`.
    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>);

    /// Visits every tensor, in order, to change it; their names begin with `name`.
    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>);

    /// Visits every tensor, in order.
    ///
    /// ```
    /// use constformer::{Linear, Parameters, Zero};
    ///
    /// let mut seen = vec![];
    /// Linear::<3, 2>::ZERO.for_each_tensor(|name, tensor| seen.push(format!("{name} {}", tensor.shape())));
    /// assert_eq!(seen, ["weight [2, 3]", "bias [2]"]);
    /// ```
    fn for_each_tensor<'a>(&'a self, mut visit: impl FnMut(&Name<'_>, Tensor<Numbers<'a>>)) {
        self.walk(&Name::ROOT, &mut visit);
    }

    /// Visits every tensor, in order, to change it.
    fn for_each_tensor_mut<'a>(&'a mut self, mut visit: impl FnMut(&Name<'_>, Tensor<NumbersMut<'a>>)) {
        self.walk_mut(&Name::ROOT, &mut visit);
    }
}

/// A bias, a gain, a class token.
impl<const N: usize> Parameters for [f32; N] {
    const COUNT: usize = N;
    const FINGERPRINT: Fingerprint = Fingerprint::of("vector").number(N);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        visit(
            name,
            Tensor {
                frozen: false,
                shape: Shape::Vector([N]),
                layout: Layout::RowMajor,
                numbers: self.as_slice().into(),
            },
        );
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        visit(
            name,
            Tensor {
                frozen: false,
                shape: Shape::Vector([N]),
                layout: Layout::RowMajor,
                numbers: self.as_mut_slice().into(),
            },
        );
    }
}

/// A stack.
impl<P: Parameters, const N: usize> Parameters for [P; N] {
    const COUNT: usize = N * P::COUNT;
    const SIZE: usize = N * P::SIZE;
    const FINGERPRINT: Fingerprint = Fingerprint::of("stack").number(N).part(P::FINGERPRINT);
    const STRUCTURE: Fingerprint = Fingerprint::of("stack").number(N).part(P::STRUCTURE);

    fn walk<'a>(&'a self, name: &Name<'_>, visit: Visit<'_, 'a>) {
        for (index, part) in self.iter().enumerate() {
            part.walk(&name.index(index), visit);
        }
    }

    fn walk_mut<'a>(&'a mut self, name: &Name<'_>, visit: VisitMut<'_, 'a>) {
        for (index, part) in self.iter_mut().enumerate() {
            part.walk_mut(&name.index(index), visit);
        }
    }
}

/// What is a type and no number.
impl<T: 'static + Send + Sync> Parameters for PhantomData<T> {
    const COUNT: usize = 0;
    const FINGERPRINT: Fingerprint = Fingerprint::of("");

    fn walk<'a>(&'a self, _: &Name<'_>, _: Visit<'_, 'a>) {}

    fn walk_mut<'a>(&'a mut self, _: &Name<'_>, _: VisitMut<'_, 'a>) {}
}

/// Implements [`Zero`] and [`Parameters`] for a struct from the list of its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! parameters {
    (
        [$($generics:tt)*] $type:ty { $($field:ident),* $(,)? }
        $(where { $($bounds:tt)* })?
        $(structure: |$fingerprint:ident| $structure:expr;)?
    ) => {
        impl<$($generics)*> $crate::Zero for $type $(where $($bounds)*)? {
            const ZERO: Self = Self { $($field: $crate::Zero::ZERO),* };
        }

        impl<$($generics)*> ::core::fmt::Debug for $type $(where $($bounds)*)? {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::parameters::debug::<Self>(f)
            }
        }

        impl<$($generics)*> $crate::Parameters for $type $(where $($bounds)*)? {
            const COUNT: usize = 0 $(+ $crate::parameters::count(|model: &Self| &model.$field))*;

            const SIZE: usize = 0 $(+ $crate::parameters::size(|model: &Self| &model.$field))*;

            const FINGERPRINT: $crate::Fingerprint = {
                let fingerprint = $crate::Fingerprint::of("struct");
                $(let fingerprint = { let $fingerprint = fingerprint; $structure };)?
                $(let fingerprint = fingerprint
                    .name(stringify!($field))
                    .part($crate::parameters::fingerprint(|model: &Self| &model.$field));)*
                fingerprint
            };

            const STRUCTURE: $crate::Fingerprint = {
                let fingerprint = $crate::Fingerprint::of("struct");
                $(let fingerprint = { let $fingerprint = fingerprint; $structure };)?
                $(let fingerprint = fingerprint
                    .name(stringify!($field))
                    .part($crate::parameters::structure(|model: &Self| &model.$field));)*
                fingerprint
            };

            #[allow(unused_variables)] // of a struct without fields
            fn walk<'a>(&'a self, name: &$crate::Name<'_>, visit: $crate::parameters::Visit<'_, 'a>) {
                $($crate::Parameters::walk(&self.$field, &name.field(stringify!($field)), visit);)*
            }

            #[allow(unused_variables)]
            fn walk_mut<'a>(&'a mut self, name: &$crate::Name<'_>, visit: $crate::parameters::VisitMut<'_, 'a>) {
                $($crate::Parameters::walk_mut(&mut self.$field, &name.field(stringify!($field)), visit);)*
            }
        }
    };
}

/// `COUNT` of the field that `_get` gets: so that [`parameters!`] need not be told the types of the fields.
#[doc(hidden)]
#[must_use]
pub const fn count<S, P: Parameters>(_get: fn(&S) -> &P) -> usize {
    P::COUNT
}

/// `SIZE` of the field that `_get` gets.
#[doc(hidden)]
#[must_use]
pub const fn size<S, P: Parameters>(_get: fn(&S) -> &P) -> usize {
    P::SIZE
}

/// `FINGERPRINT` of the field that `_get` gets.
#[doc(hidden)]
#[must_use]
pub const fn fingerprint<S, P: Parameters>(_get: fn(&S) -> &P) -> Fingerprint {
    P::FINGERPRINT
}

/// `STRUCTURE` of the field that `_get` gets.
#[doc(hidden)]
#[must_use]
pub const fn structure<S, P: Parameters>(_get: fn(&S) -> &P) -> Fingerprint {
    P::STRUCTURE
}
