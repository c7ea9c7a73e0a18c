//! Families by their parts.

use super::{
    BlueprintError, Expression,
    arguments::{Arguments, Result},
};
use crate::{
    Activation, Bert, Bias, Family, Gelu, GeluTanh, Gpt2, HalfSplit, Identity, Kwt, Llama, Mask, Norm, Pairing,
    Parameters, Placement, PositionWise, Relu, Rotation, Silu, Vaswani, Vit,
};

/// The parts of a [`Family`].
#[allow(clippy::struct_excessive_bools, reason = "they are the family's")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) norm_first: bool,
    pub(crate) norm: NormKind,
    pub(crate) final_norm: NormKind,
    pub(crate) causal: bool,
    /// Which columns make a pair, and θ.
    pub(crate) rotation: Option<(Pairing, u64)>,
    pub(crate) input_bias: bool,
    pub(crate) output_bias: bool,
    pub(crate) gated: bool,
    pub(crate) activation: &'static str,
    pub(crate) feed_forward_bias: bool,
}

/// The kind of a norm; `exponent` is the E of ε = 10⁻ᴱ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NormKind {
    None,
    Layer { exponent: u64, bias: bool },
    Rms { exponent: u64 },
}

/// The largest E of ε = 10⁻ᴱ.
pub(super) const EXPONENT: u64 = 16;

/// Types of activations, and what hyperparameters call them.
pub(super) const ACTIVATIONS: [(&str, &str); 5] = [
    ("Relu", Relu::NAME),
    ("Gelu", Gelu::NAME),
    ("GeluTanh", GeluTanh::NAME),
    ("Silu", Silu::NAME),
    ("Identity", Identity::NAME),
];

const MASKS: [&str; 2] = ["Bidirectional", "Causal"];
const PLACEMENTS: [&str; 2] = ["PostLn", "PreLn"];
const FINAL_NORMS: [&str; 2] = ["NoFinalNorm", "WithFinalNorm"];
pub(super) const BIASES: [&str; 2] = ["WithBias", "NoBias"];

/// The families without arguments, as their types have it.
fn presets() -> [(&'static str, Parts); 5] {
    [
        ("Bert", Parts::of::<Bert>()),
        ("Vaswani", Parts::of::<Vaswani>()),
        ("Vit", Parts::of::<Vit>()),
        ("Kwt", Parts::of::<Kwt>()),
        ("Gpt2", Parts::of::<Gpt2>()),
    ]
}

fn norm<N: Norm<2>>() -> NormKind {
    let Some((rms, epsilon)) = N::RMS_AND_EPSILON else { return NormKind::None };
    let exponent = -epsilon.log10().round() as u64;
    if rms { NormKind::Rms { exponent } } else { NormKind::Layer { exponent, bias: N::COUNT > 2 } }
}

impl Parts {
    /// Those of a family, read off its types.
    fn of<F: Family>() -> Self {
        type Inside<F> = <F as Family>::FeedForward<1, 1, f32>;
        let matrices = if <Inside<F> as PositionWise<1, 1>>::GATED { 3 } else { 2 };
        Self {
            norm_first: F::Placement::NORM_FIRST,
            norm: norm::<F::Norm<2>>(),
            final_norm: norm::<F::FinalNorm<2>>(),
            causal: F::Mask::CAUSAL,
            rotation: F::Rotation::PAIRING.map(|pairing| (pairing, F::Rotation::THETA as u64)),
            input_bias: <F::InputBias as Bias>::Vector::<1>::COUNT > 0,
            output_bias: <F::OutputBias as Bias>::Vector::<1>::COUNT > 0,
            gated: matrices == 3,
            activation: <Inside<F> as PositionWise<1, 1>>::ACTIVATION,
            feed_forward_bias: Inside::<F>::COUNT > matrices,
        }
    }

    /// Those of `Custom`.
    pub(crate) const fn custom(
        norm_first: bool,
        activation: &'static str,
        last: bool,
        exponent: u64,
        bias: bool,
    ) -> Self {
        let norm = NormKind::Layer { exponent, bias };
        Self {
            norm_first,
            norm,
            final_norm: if last { norm } else { NormKind::None },
            causal: false,
            rotation: None,
            input_bias: bias,
            output_bias: bias,
            gated: false,
            activation,
            feed_forward_bias: bias,
        }
    }

    /// Those of `Llama`.
    pub(crate) fn llama(pairing: Pairing, theta: u64, exponent: u64) -> Self {
        let norm = NormKind::Rms { exponent };
        Self { norm, final_norm: norm, rotation: Some((pairing, theta)), ..Self::of::<Llama>() }
    }

    /// Those of the family that a type says.
    pub(super) fn parse(family: &Expression) -> Result<Self> {
        let own = || BlueprintError::Own(std::format!("{family}"));
        let Expression::Type(name, arguments) = family else { return Err(own()) };
        let mut arguments = Arguments::new(name, arguments);
        let parts = match name.as_str() {
            "Masked" => {
                let family = Self::parse(arguments.expression("F")?)?;
                let mask = arguments.expression("M")?;
                let causal = arguments_of(mask).one_of(&MASKS)?;
                Self { causal: causal == 1, ..family }
            }
            "Custom" => {
                let placement = arguments_of(arguments.expression("P")?).one_of(&PLACEMENTS)?;
                let activations = ACTIVATIONS.map(|(name, _)| name);
                let activation = arguments_of(arguments.expression("A")?).one_of(&activations)?;
                let last = arguments.one_of(&FINAL_NORMS)?;
                let exponent = arguments.unsigned_or("E", 5, EXPONENT)?;
                let bias = arguments.one_of(&BIASES)?;
                let activation = ACTIVATIONS.get(activation).map_or(Identity::NAME, |(_, name)| *name);
                Self::custom(placement == 1, activation, last == 1, exponent, bias == 0)
            }
            "Llama" => {
                let (pairing, theta) = rotation(arguments.next())?;
                Self::llama(pairing, theta, arguments.unsigned_or("E", 5, EXPONENT)?)
            }
            _ => presets().into_iter().find(|(preset, _)| preset == name).ok_or_else(own)?.1,
        };
        arguments.end()?;
        Ok(parts)
    }

    /// The type of the family: a preset, if one has these parts. `None` if no type of this library has them.
    pub(crate) fn expression(self) -> Option<Expression> {
        let masked = |family, mask| Expression::new("Masked", [family, Expression::named(mask)]);
        if let Some((preset, _)) = presets().iter().find(|(_, parts)| *parts == self) {
            return Some(Expression::named(preset));
        }
        if let Some((preset, of)) = presets().iter().find(|(_, parts)| Self { causal: self.causal, ..*parts } == self) {
            return Some(masked(Expression::named(preset), MASKS[usize::from(!of.causal)]));
        }
        if let (NormKind::Rms { exponent }, Some((pairing, theta))) = (self.norm, self.rotation)
            && Self::llama(pairing, theta, exponent) == self
        {
            let name = if pairing == Pairing::HalfSplit { "HalfSplit" } else { "Interleaved" };
            let theta = if theta == default_theta() { None } else { Some(Expression::unsigned(theta)) };
            let rotation = Expression::new(name, theta);
            return Some(Expression::new(
                "Llama",
                trimmed([rotation, Expression::unsigned(exponent)], &["Interleaved", "U5"]),
            ));
        }
        let NormKind::Layer { exponent, bias } = self.norm else { return None };
        let last = self.final_norm != NormKind::None;
        let custom = Self::custom(self.norm_first, self.activation, last, exponent, bias);
        if (Self { causal: self.causal, ..custom }) != self {
            return None;
        }
        let (activation, _) = ACTIVATIONS.iter().find(|(_, name)| *name == self.activation)?;
        let arguments = [
            Expression::named(PLACEMENTS[usize::from(self.norm_first)]),
            Expression::named(activation),
            Expression::named(FINAL_NORMS[usize::from(last)]),
            Expression::unsigned(exponent),
            Expression::named(BIASES[usize::from(!bias)]),
        ];
        let custom = Expression::new("Custom", trimmed(arguments, &["", "", "NoFinalNorm", "U5", "WithBias"]));
        Some(if self.causal { masked(custom, "Causal") } else { custom })
    }
}

/// θ as a type of typenum, which has names for 0 to 1024 and for powers of ten; `None` if it is no product of two of them.
pub(crate) fn theta_in_rust(theta: u64) -> Option<std::string::String> {
    let is_named = |n: u64| n <= 1024 || (1..=18).any(|k| n == 10u64.pow(k));
    if is_named(theta) {
        return Some(std::format!("U{theta}"));
    }
    let power = (1..=18).map(|k| 10u64.pow(k)).find(|power| theta.is_multiple_of(*power) && is_named(theta / power))?;
    Some(std::format!("Prod<U{}, U{power}>", theta / power))
}

fn default_theta() -> u64 {
    HalfSplit::<typenum::U10000>::THETA as u64
}

/// A reader of `argument` alone.
fn arguments_of(argument: &Expression) -> Arguments<'_> {
    Arguments::new("", core::slice::from_ref(argument))
}

/// The arguments without those at the end that are the defaults.
fn trimmed<const N: usize>(arguments: [Expression; N], defaults: &[&str; N]) -> std::vec::Vec<Expression> {
    let is_default = |(argument, default): &(&Expression, &&str)| **argument == Expression::named(default);
    let keep = N - arguments.iter().zip(defaults).rev().take_while(is_default).count();
    arguments.into_iter().take(keep).collect()
}

/// The pairing and θ of a rotation; those of `Interleaved`, if there is none.
fn rotation(rotation: Option<&Expression>) -> Result<(Pairing, u64)> {
    let Some(rotation) = rotation else { return Ok((Pairing::Interleaved, default_theta())) };
    let own = || BlueprintError::Own(std::format!("{rotation}"));
    let Expression::Type(name, arguments) = rotation else { return Err(own()) };
    let pairing = match name.as_str() {
        "Interleaved" => Pairing::Interleaved,
        "HalfSplit" => Pairing::HalfSplit,
        _ => return Err(own()),
    };
    let mut arguments = Arguments::new(name, arguments);
    let theta = arguments.unsigned_or("THETA", default_theta(), 1 << 52)?;
    arguments.end()?;
    Ok((pairing, theta))
}
