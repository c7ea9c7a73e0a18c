//! Published transformers as types.

use crate::{
    activation::{Activation, Gelu, GeluTanh, Relu, Silu},
    bias::{Bias, NoBias, WithBias},
    feed_forward::{FeedForward, GatedFeedForward, PositionWise},
    format::Format,
    mask::{Bidirectional, Causal, Mask},
    norm::{Exponent, LayerNorm, NoNorm, Norm, RmsNorm},
    residual::{Placement, PostLn, PreLn},
    rotation::{Interleaved, NoRotation, Rotation},
    shape::{KnownWidth, Width},
};
use core::marker::PhantomData;
use typenum::{U5, U6, U12};

/// What the blocks of a published transformer are made of: all that is neither a shape nor a weight.
///
/// | family | placement | norm, ε | mask | feed-forward | biases |
/// |---|---|---|---|---|---|
/// | [`Vaswani`] | Post-LN | LayerNorm, 1e-6 | bidirectional | ReLU | all |
/// | [`Bert`] | Post-LN | LayerNorm, 1e-12 | bidirectional | GELU | all |
/// | [`Gpt2`] | Pre-LN | LayerNorm, 1e-5 | causal | GELU (tanh) | all |
/// | [`Vit`] | Pre-LN | LayerNorm, 1e-6 | bidirectional | GELU | all |
/// | [`Llama`] | Pre-LN | RMSNorm, 1e-5 | causal, rotary | SwiGLU | none |
/// | [`Kwt`] | Post-LN | LayerNorm, 1e-6 | bidirectional | GELU (tanh) | all but query, key, value |
///
/// One of your own:
///
/// ```
/// use constformer::{typenum::U6, *};
///
/// #[derive(Clone, Copy)]
/// struct Mine; // Pre-LN, RMSNorm, SwiGLU, no biases
///
/// impl Family for Mine {
///     type Placement = PreLn;
///     type Norm<const D_MODEL: usize> = RmsNorm<D_MODEL, U6>;
///     type FinalNorm<const D_MODEL: usize> = RmsNorm<D_MODEL, U6>;
///     type Mask = Causal;
///     type Rotation = NoRotation;
///     type InputBias = NoBias;
///     type OutputBias = NoBias;
///     type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
///         = GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>
///     where
///         Width<D_MODEL>: KnownWidth,
///         Width<D_FF>: KnownWidth;
/// }
///
/// static MODEL: Encoder<Mine, 2, 64, 172, 4> = Encoder::ZERO;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a family of transformers",
    label = "a family such as `Bert` is wanted here"
)]
pub trait Family: Copy + Send + Sync + 'static {
    /// Where the norm of a residual connection sits.
    type Placement: Placement;
    /// The norm of a residual connection.
    type Norm<const D_MODEL: usize>: Norm<D_MODEL>;
    /// The norm after the last block; Pre-LN needs one, since its blocks do not normalise what they return.
    type FinalNorm<const D_MODEL: usize>: Norm<D_MODEL>;
    /// What a token attends to.
    type Mask: Mask;
    /// How positions turn queries and keys.
    type Rotation: Rotation;
    /// The biases of query, key and value.
    type InputBias: Bias;
    /// The bias of attention's output.
    type OutputBias: Bias;
    /// The feed-forward layer.
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>: PositionWise<D_MODEL, D_FF, Number = T::Number>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

macro_rules! families {
    ($(
        $(#[$doc:meta])*
        $name:ident: $placement:ty, $epsilon:ty, $mask:ty, $activation:ty, $input_bias:ty, final $final_norm:ty;
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Family for $name {
            type Placement = $placement;
            type Norm<const D_MODEL: usize> = LayerNorm<D_MODEL, $epsilon>;
            type FinalNorm<const D_MODEL: usize> = $final_norm;
            type Mask = $mask;
            type Rotation = NoRotation;
            type InputBias = $input_bias;
            type OutputBias = WithBias;
            type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
                = FeedForward<D_MODEL, D_FF, $activation, T>
            where
                Width<D_MODEL>: KnownWidth,
                Width<D_FF>: KnownWidth;
        }
    )* };
}

families! {
    /// The original transformer's encoder: Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762),
    /// 2017. The paper does not say ε; the authors' code has 1e-6, and PyTorch's default is 1e-5.
    Vaswani: PostLn, U6, Bidirectional, Relu, WithBias, final NoNorm;

    /// BERT and its kin, RoBERTa, MiniLM: Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2018.
    Bert: PostLn, U12, Bidirectional, Gelu, WithBias, final NoNorm;

    /// GPT-2: Radford et al., [Language Models are Unsupervised Multitask Learners][paper], 2019.
    ///
    /// [paper]: https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
    Gpt2: PreLn, U5, Causal, GeluTanh, WithBias, final LayerNorm<D_MODEL, U5>;

    /// The vision transformer: Dosovitskiy et al., [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929), 2020;
    /// with the GELU of its PyTorch ports (the authors' own has the tanh form).
    Vit: PreLn, U6, Bidirectional, Gelu, WithBias, final LayerNorm<D_MODEL, U6>;

    /// The keyword transformer: Berg, O'Connor & Cruz, [Keyword Transformer](https://arxiv.org/abs/2104.00769), 2021; with the
    /// GELU (tanh) of its models for TensorFlow Lite.
    Kwt: PostLn, U6, Bidirectional, GeluTanh, NoBias, final NoNorm;
}

/// Llama and its kin: Touvron et al., [LLaMA](https://arxiv.org/abs/2302.13971), 2023. Pre-LN with RMSNorm; SwiGLU; no biases;
/// causal.
///
/// `R` says which columns make a pair of the rotation: [`Interleaved`] for Llama's own checkpoints and llama2.c's,
/// [`HalfSplit`](crate::HalfSplit) for Hugging Face's; and θ. `E` is the exponent of ε = 10⁻ᴱ: 5 since Llama 2, 6 before.
#[derive(Clone, Copy, Debug)]
pub struct Llama<R = Interleaved, E = U5>(PhantomData<(R, E)>);

impl<R: Rotation, E: Exponent + Copy> Family for Llama<R, E> {
    type Placement = PreLn;
    type Norm<const D_MODEL: usize> = RmsNorm<D_MODEL, E>;
    type FinalNorm<const D_MODEL: usize> = RmsNorm<D_MODEL, E>;
    type Mask = Causal;
    type Rotation = R;
    type InputBias = NoBias;
    type OutputBias = NoBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = GatedFeedForward<D_MODEL, D_FF, Silu, T, NoBias>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

/// LayerNorm, bidirectional, no rotary positions; the rest as PyTorch's `nn.TransformerEncoder` and its layers take it
///
/// | parameter | is | PyTorch |
/// |---|---|---|
/// | `P` | [`PostLn`] or [`PreLn`] | `norm_first` |
/// | `A` | [`Relu`], [`Gelu`] or another [`Activation`] | `activation` |
/// | `N` | [`NoFinalNorm`] or [`WithFinalNorm`] | `norm` |
/// | `E` | the exponent of ε = 10⁻ᴱ | `layer_norm_eps` |
/// | `B` | [`WithBias`] or [`NoBias`]: of all layers and norms | `bias` |
///
/// RoBERTa is `Custom<PostLn, Gelu>`; nanoGPT is `Masked<Custom<PreLn, Gelu, WithFinalNorm>, Causal>`.
#[derive(Clone, Copy, Debug)]
pub struct Custom<P, A, N = NoFinalNorm, E = U5, B = WithBias>(PhantomData<(P, A, N, E, B)>);

impl<P: Placement, A: Activation, N: FinalNorm, E: Exponent + Copy, B: Bias> Family for Custom<P, A, N, E, B> {
    type Placement = P;
    type Norm<const D_MODEL: usize> = LayerNorm<D_MODEL, E, B>;
    type FinalNorm<const D_MODEL: usize> = N::Norm<D_MODEL, E, B>;
    type Mask = Bidirectional;
    type Rotation = NoRotation;
    type InputBias = B;
    type OutputBias = B;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = FeedForward<D_MODEL, D_FF, A, T, B>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}

/// Whether there is a norm after the last block of a [`Custom`] family: [`WithFinalNorm`] or [`NoFinalNorm`].
pub trait FinalNorm: Copy + Send + Sync + 'static {
    /// The norm.
    type Norm<const D_MODEL: usize, E: Exponent, B: Bias>: Norm<D_MODEL>;
}

/// A norm as those of the blocks.
#[derive(Clone, Copy, Debug)]
pub struct WithFinalNorm;

/// None.
#[derive(Clone, Copy, Debug)]
pub struct NoFinalNorm;

impl FinalNorm for WithFinalNorm {
    type Norm<const D_MODEL: usize, E: Exponent, B: Bias> = LayerNorm<D_MODEL, E, B>;
}

impl FinalNorm for NoFinalNorm {
    type Norm<const D_MODEL: usize, E: Exponent, B: Bias> = NoNorm;
}

/// The family `F` with another mask, `M`.
#[derive(Clone, Copy, Debug)]
pub struct Masked<F, M>(PhantomData<(F, M)>);

impl<F: Family, M: Mask> Family for Masked<F, M> {
    type Placement = F::Placement;
    type Norm<const D_MODEL: usize> = F::Norm<D_MODEL>;
    type FinalNorm<const D_MODEL: usize> = F::FinalNorm<D_MODEL>;
    type Mask = M;
    type Rotation = F::Rotation;
    type InputBias = F::InputBias;
    type OutputBias = F::OutputBias;
    type FeedForward<const D_MODEL: usize, const D_FF: usize, T: Format>
        = F::FeedForward<D_MODEL, D_FF, T>
    where
        Width<D_MODEL>: KnownWidth,
        Width<D_FF>: KnownWidth;
}
