//! The same encoder as one writes it with `nalgebra`: matrices of one token a column, its own products into matrices that
//! are there already, the functions of `std` and `libm`.
//!
//! With dimensions that are [`Dyn`](nalgebra::Dyn) the products are those of the crate `matrixmultiply`; with
//! [`Const`](nalgebra::Const) they are the static ones.

use nalgebra::{Const, DefaultAllocator, Dim, OMatrix, OVector, Storage, StorageMut, allocator::Allocator};

/// What all functions below need: room for matrices and vectors of the dimensions of a model and a sequence.
pub(crate) trait Room<D: Dim, F: Dim, N: Dim>:
    Allocator<D> + Allocator<F> + Allocator<D, D> + Allocator<F, D> + Allocator<D, F> + Attention<D, N> + Allocator<F, N>
{
}

impl<D: Dim, F: Dim, N: Dim, T> Room<D, F, N> for T where
    T: Allocator<D>
        + Allocator<F>
        + Allocator<D, D>
        + Allocator<F, D>
        + Allocator<D, F>
        + Attention<D, N>
        + Allocator<F, N>
{
}

/// Room for the matrices of attention.
pub(crate) trait Attention<D: Dim, N: Dim>: Allocator<D, N> + Allocator<N, D> + Allocator<N, N> {}

impl<D: Dim, N: Dim, T: Allocator<D, N> + Allocator<N, D> + Allocator<N, N>> Attention<D, N> for T {}

/// y = W x + b
struct Linear<I: Dim, O: Dim>
where
    DefaultAllocator: Allocator<O, I> + Allocator<O>,
{
    weight: OMatrix<f32, O, I>,
    bias: OVector<f32, O>,
}

impl<I: Dim, O: Dim> Linear<I, O>
where
    DefaultAllocator: Allocator<O, I> + Allocator<O>,
{
    fn load(tensors: &mut impl Iterator<Item = Vec<f32>>, inputs: I, outputs: O) -> Self {
        Self {
            weight: OMatrix::from_row_iterator_generic(outputs, inputs, next(tensors)),
            bias: OMatrix::from_iterator_generic(outputs, Const::<1>, next(tensors)),
        }
    }

    fn forward<N: Dim>(&self, x: &OMatrix<f32, I, N>, y: &mut OMatrix<f32, O, N>)
    where
        DefaultAllocator: Allocator<I, N> + Allocator<O, N>,
    {
        for mut column in y.column_iter_mut() {
            column.copy_from(&self.bias);
        }
        y.gemm(1.0, &self.weight, x, 1.0);
    }
}

/// y = γ ⊙ (x - E\[x\]) / √(Var\[x\] + ε) + β
struct LayerNorm<D: Dim>
where
    DefaultAllocator: Allocator<D>,
{
    weight: OVector<f32, D>,
    bias: OVector<f32, D>,
    epsilon: f32,
}

impl<D: Dim> LayerNorm<D>
where
    DefaultAllocator: Allocator<D>,
{
    fn load(tensors: &mut impl Iterator<Item = Vec<f32>>, d_model: D, epsilon: f32) -> Self {
        let mut vector = || OMatrix::from_iterator_generic(d_model, Const::<1>, next(tensors));
        Self { weight: vector(), bias: vector(), epsilon }
    }

    fn forward<N: Dim>(&self, x: &mut OMatrix<f32, D, N>)
    where
        DefaultAllocator: Allocator<D, N>,
    {
        for mut token in x.column_iter_mut() {
            let mean = token.mean();
            token.add_scalar_mut(-mean);
            let variance = token.norm_squared() / token.len() as f32;
            token *= 1.0 / (variance + self.epsilon).sqrt();
            token.component_mul_assign(&self.weight);
            token += &self.bias;
        }
    }
}

struct Block<D: Dim, F: Dim>
where
    DefaultAllocator: Allocator<D> + Allocator<F> + Allocator<D, D> + Allocator<F, D> + Allocator<D, F>,
{
    query: Linear<D, D>,
    key: Linear<D, D>,
    value: Linear<D, D>,
    output: Linear<D, D>,
    attention_norm: LayerNorm<D>,
    inner: Linear<D, F>,
    outer: Linear<F, D>,
    feed_forward_norm: LayerNorm<D>,
}

/// Working memory.
struct Scratch<D: Dim, F: Dim, N: Dim>
where
    DefaultAllocator: Attention<D, N> + Allocator<F, N>,
{
    input: OMatrix<f32, D, N>,
    query: OMatrix<f32, D, N>,
    key: OMatrix<f32, D, N>,
    key_transposed: OMatrix<f32, N, D>,
    value: OMatrix<f32, D, N>,
    scores: OMatrix<f32, N, N>,
    context: OMatrix<f32, D, N>,
    hidden: OMatrix<f32, F, N>,
}

/// What the encoder is besides its weights.
pub(crate) struct Kind<A> {
    pub(crate) norm_first: bool,
    pub(crate) epsilon: f32,
    pub(crate) activation: A,
}

/// An encoder of the dimensions D (`D_MODEL`), F (`D_FF`), H (of a head) and N (`SEQ_LEN`).
pub(crate) struct Encoder<D: Dim, F: Dim, H: Dim, N: Dim, A>
where
    DefaultAllocator: Room<D, F, N>,
{
    blocks: Vec<Block<D, F>>,
    norm: Option<LayerNorm<D>>,
    scratch: Scratch<D, F, N>,
    d_head: H,
    kind: Kind<A>,
}

impl<D: Dim, F: Dim, H: Dim, N: Dim, A: Fn(f32) -> f32> Encoder<D, F, H, N, A>
where
    DefaultAllocator: Room<D, F, N>,
{
    /// The encoder of `layers` blocks with the weights `tensors`, in the order of constformer's, each row by row.
    pub(crate) fn load(
        tensors: &mut impl Iterator<Item = Vec<f32>>,
        layers: usize,
        (d, f, d_head, n): (D, F, H, N),
        kind: Kind<A>,
    ) -> Self {
        let block = |_| Block {
            query: Linear::load(tensors, d, d),
            key: Linear::load(tensors, d, d),
            value: Linear::load(tensors, d, d),
            output: Linear::load(tensors, d, d),
            attention_norm: LayerNorm::load(tensors, d, kind.epsilon),
            inner: Linear::load(tensors, d, f),
            outer: Linear::load(tensors, f, d),
            feed_forward_norm: LayerNorm::load(tensors, d, kind.epsilon),
        };
        let blocks = (0..layers).map(block).collect();
        let norm = kind.norm_first.then(|| LayerNorm::load(tensors, d, kind.epsilon));
        let zeros = || OMatrix::zeros_generic(d, n);
        let scratch = Scratch {
            input: zeros(),
            query: zeros(),
            key: zeros(),
            key_transposed: OMatrix::zeros_generic(n, d),
            value: zeros(),
            scores: OMatrix::zeros_generic(n, n),
            context: zeros(),
            hidden: OMatrix::zeros_generic(f, n),
        };
        Self { blocks, norm, scratch, d_head, kind }
    }

    /// Replaces the tokens by the output of the encoder.
    pub(crate) fn forward(&mut self, x: &mut OMatrix<f32, D, N>) {
        let Self { blocks, norm, scratch: s, d_head, kind } = self;
        for block in blocks {
            s.input.copy_from(x);
            if kind.norm_first {
                block.attention_norm.forward(&mut s.input);
            }
            block.query.forward(&s.input, &mut s.query);
            block.key.forward(&s.input, &mut s.key);
            block.value.forward(&s.input, &mut s.value);
            attend(*d_head, s);
            block.output.forward(&s.context, &mut s.input);
            *x += &s.input;
            if !kind.norm_first {
                block.attention_norm.forward(x);
            }

            s.input.copy_from(x);
            if kind.norm_first {
                block.feed_forward_norm.forward(&mut s.input);
            }
            block.inner.forward(&s.input, &mut s.hidden);
            s.hidden.apply(|x| *x = (kind.activation)(*x));
            block.outer.forward(&s.hidden, &mut s.input);
            *x += &s.input;
            if !kind.norm_first {
                block.feed_forward_norm.forward(x);
            }
        }
        if let Some(norm) = norm {
            norm.forward(x);
        }
    }
}

/// The context of all heads, of `d_head` rows each.
fn attend<D: Dim, F: Dim, H: Dim, N: Dim>(d_head: H, s: &mut Scratch<D, F, N>)
where
    DefaultAllocator: Attention<D, N> + Allocator<F, N>,
{
    let ((d, n), heads) = (s.query.shape_generic(), s.query.nrows() / d_head.value());
    debug_assert_eq!(d.value() % heads, 0);
    s.key.transpose_to(&mut s.key_transposed);
    for row in (0..heads).map(|head| head * d_head.value()) {
        let keys = s.key_transposed.generic_view((0, row), (n, d_head));
        s.scores.gemm(1.0 / (d_head.value() as f32).sqrt(), &keys, &s.query.generic_view((row, 0), (d_head, n)), 0.0);
        for scores in s.scores.column_iter_mut() {
            softmax(scores);
        }
        let values = s.value.generic_view((row, 0), (d_head, n));
        s.context.generic_view_mut((row, 0), (d_head, n)).gemm(1.0, &values, &s.scores, 0.0);
    }
}

fn softmax<N: Dim, S: Storage<f32, N> + StorageMut<f32, N>>(mut scores: nalgebra::Vector<f32, N, S>) {
    let max = scores.max();
    scores.apply(|x| *x = (*x - max).exp());
    scores *= 1.0 / scores.sum();
}

fn next(tensors: &mut impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
    tensors.next().expect("as many tensors as the model has layers for")
}
