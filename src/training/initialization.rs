//! How a model starts.

use crate::{
    parameters::{Layout, Name, Parameters, Shape},
    sampling::Rng,
};
use core::f64::consts::PI;

/// How the parameters of a model start. In all of them, gains of norms are 1, and what is not named is 0.
///
/// | | matrices of linear maps | their biases | tables of embeddings, class token |
/// |---|---|---|---|
/// | [`ScaledNormal`](Self::ScaledNormal) | N(0, 0.02), those that add to the residual stream N(0, 0.02 / √(their number)) | 0 | N(0, 0.02) |
/// | [`Xavier`](Self::Xavier) | U(±√(6 / (in + out))) | 0 | N(0, 1 / √`D_MODEL`) |
/// | [`PyTorch`](Self::PyTorch) | U(±1 / √in); query, key and value U(±√(6 / (in + 3 in))) | U(±1 / √in); 0 in attention | N(0, 1) |
///
/// N(m, s) is the normal distribution with the standard deviation s, U(±a) the uniform one from -a to a.
///
/// The scaled normal is that of Radford et al., 2019, and of nanoGPT; Xavier's that of Glorot & Bengio,
/// [Understanding the difficulty of training deep feedforward neural networks](https://proceedings.mlr.press/v9/glorot10a.html), 2010, with
/// embeddings as the authors of the transformer have them; PyTorch's that of `nn.Linear`, `nn.MultiheadAttention` and `nn.Embedding`.
///
/// ```
/// use constformer::{Bert, Encoder, boxed, training::Initialization};
/// use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};
///
/// let mut encoder = boxed::<Encoder<Bert, 2, 16, 64, 4>>();
/// Initialization::ScaledNormal.fill(&mut *encoder, &mut SplitMix64::seed_from_u64(17));
/// assert_eq!(encoder.blocks[0].attention_norm.weight, [1.0; 16]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialization {
    /// A normal distribution, narrower where many are added: that of GPT-2.
    ScaledNormal,
    /// A uniform distribution that keeps the variance of activations and of gradients.
    Xavier,
    /// What the modules of PyTorch do by themselves.
    PyTorch,
}

impl Initialization {
    /// All parameters of `model` start anew.
    pub fn fill<M: Parameters>(self, model: &mut M, rng: &mut (impl Rng + ?Sized)) {
        let mut residual = 0;
        model.for_each_tensor(|name, tensor| {
            residual +=
                usize::from(matches!(Kind::new(name, tensor.shape(), tensor.layout), Kind::Map { residual: true, .. }));
        });
        let mut inputs = 0; // of the map that a bias belongs to, which comes after its matrix
        model.for_each_tensor_mut(|name, mut tensor| {
            let (kind, [rows, columns]) = (Kind::new(name, tensor.shape(), tensor.layout), tensor.shape().extent());
            if let Kind::Map { .. } = kind {
                inputs = columns;
            }
            let distribution = self.distribution(&kind, [rows, columns], residual, inputs);
            for number in tensor.stored_mut() {
                *number = distribution.draw(rng) as f32;
            }
        });
    }

    /// The matrix of a linear map starts anew.
    pub(super) fn fill_map(self, shape: Shape, numbers: &mut [f32], rng: &mut (impl Rng + ?Sized)) {
        let kind = Kind::Map { residual: false, input_of_attention: false };
        let distribution = self.distribution(&kind, shape.extent(), 0, 0);
        numbers.iter_mut().for_each(|number| *number = distribution.draw(rng) as f32);
    }

    fn distribution(self, kind: &Kind, [rows, columns]: [usize; 2], residual: usize, inputs: usize) -> Distribution {
        let uniform = |sum: usize, numerator: f64| Distribution::Uniform(libm::sqrt(numerator / sum.max(1) as f64));
        match (self, kind) {
            (_, Kind::Gain) => Distribution::Always(1.0),
            (Self::ScaledNormal, Kind::Map { residual: true, .. }) => {
                Distribution::Normal(0.02 / libm::sqrt(residual as f64))
            }
            (Self::ScaledNormal, Kind::Map { .. } | Kind::Table) => Distribution::Normal(0.02),
            (Self::Xavier, Kind::Map { .. }) => uniform(rows + columns, 6.0),
            (Self::Xavier, Kind::Table) => Distribution::Normal(1.0 / libm::sqrt(columns as f64)),
            (Self::PyTorch, Kind::Map { input_of_attention: true, .. }) => uniform(columns + 3 * columns, 6.0),
            (Self::PyTorch, Kind::Map { .. }) => uniform(columns, 1.0),
            (Self::PyTorch, Kind::Bias { of_attention: false }) => uniform(inputs, 1.0),
            (Self::PyTorch, Kind::Table) => Distribution::Normal(1.0),
            (_, Kind::Bias { .. } | Kind::Nothing) => Distribution::Always(0.0),
        }
    }
}

/// What a tensor is, by its name and how it is stored.
enum Kind {
    /// The gain of a norm.
    Gain,
    /// The bias of a norm, and any other vector.
    Nothing,
    /// The bias of a linear map.
    Bias {
        of_attention: bool,
    },
    Table,
    /// The matrix of a linear map; whether its output is added to the residual stream, and whether it makes queries, keys or values.
    Map {
        residual: bool,
        input_of_attention: bool,
    },
}

impl Kind {
    fn new(name: &Name<'_>, shape: Shape, layout: Layout) -> Self {
        let (last, owner) = (name.last(), name.parent());
        let (part, whole) = (owner.and_then(Name::last), owner.and_then(Name::parent).and_then(Name::last));
        let attention = matches!(whole, Some("attention" | "self_attention" | "cross_attention"));
        let output = attention && part == Some("output");
        let input = attention && matches!(part, Some("query" | "key" | "value"));
        match (shape, layout) {
            (Shape::Vector(_), _) => match last {
                Some("weight") => Self::Gain,
                Some("class_token") => Self::Table,
                Some("bias") if !part.is_some_and(|part| part.contains("norm")) => {
                    Self::Bias { of_attention: input || output }
                }
                _ => Self::Nothing,
            },
            (Shape::Matrix(_), Layout::RowMajor) => Self::Table,
            _ => {
                let outer = whole == Some("feed_forward") && part == Some("outer");
                Self::Map { residual: output || outer, input_of_attention: input }
            }
        }
    }
}

enum Distribution {
    Always(f64),
    /// From minus to plus this.
    Uniform(f64),
    /// With this standard deviation.
    Normal(f64),
}

impl Distribution {
    fn draw(&self, rng: &mut (impl Rng + ?Sized)) -> f64 {
        // Between 0 and 1, and neither.
        let mut share = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        match self {
            Self::Always(number) => *number,
            Self::Uniform(bound) => bound * (2.0 * share() - 1.0),
            Self::Normal(deviation) => {
                // Box and Muller.
                let (radius, angle) = (libm::sqrt(-2.0 * libm::log(share())), 2.0 * PI * share());
                deviation * radius * libm::cos(angle)
            }
        }
    }
}
