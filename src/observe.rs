//! What happens inside of a model, for those who want to see it.

use crate::{number::Number, parameters::Name, sequence::Sequence, token_format::TokenFormat};

/// Sees the activations of a forward pass by name.
///
/// A closure of a name, the position of a token and the numbers of that token is one:
///
/// ```
/// use constformer::{Encoder, Layer, Name, Scratch, Sequence, Vit, Zero};
///
/// static ENCODER: Encoder<Vit, 2, 32, 64, 4> = Encoder::ZERO;
/// let (mut x, mut scratch) = (Sequence::<32, 8>::new(), Scratch::<32, 64, 8>::ZERO);
/// x.push(&[1.0; 32])?;
/// let mut seen = vec![];
/// ENCODER.observe(&mut x, &mut scratch, &Name::ROOT, &mut |name: &Name<'_>, _token: usize, values: &[f32]| {
///     seen.push((name.to_string(), values.len()));
/// });
/// assert!(seen.contains(&("blocks.1.feed_forward.hidden".into(), 64)));
/// # Ok::<(), constformer::TooLong>(())
/// ```
///
/// [`Layer::observe`](crate::Layer::observe) and those of [`CrossDecoder`](crate::CrossDecoder), [`Classifier`](crate::Classifier),
/// [`TextEncoder`](crate::TextEncoder) and [`LanguageModel`](crate::LanguageModel) show what they do in a forward pass. A part of
/// the model is seen under its own name when it has done its work, what lies inside of it below that. In a whole model, blocks are
/// below `encoder` or `decoder`:
///
/// | name | of a token |
/// |---|---|
/// | `embedding` | the token as it enters the stack |
/// | `blocks.0.attention_norm` | the output of the norm |
/// | `blocks.0.attention.query`, `.key`, `.value` | the outputs of the linear maps, before rotary positions |
/// | `blocks.0.attention.scores.0` | of head 0: q · k / √d for the tokens that the token sees |
/// | `blocks.0.attention.weights.0` | of head 0: their softmax |
/// | `blocks.0.attention.context` | the weighted sums of values of all heads |
/// | `blocks.0.attention` | the output of the layer |
/// | `blocks.0.attention_residual` | that and the stream, added |
/// | `blocks.0.feed_forward_norm` | the output of the norm |
/// | `blocks.0.feed_forward.inner`, `.gate` | the outputs of the linear maps, before the activation |
/// | `blocks.0.feed_forward.hidden` | what the last linear map is given |
/// | `blocks.0.feed_forward` | the output of the layer |
/// | `blocks.0.feed_forward_residual` | that and the stream, added |
/// | `blocks.0` | the output of the block |
/// | `norm` | the output of the final norm |
/// | `head` | logits |
///
/// Tokens pass in tiles, so all of a block is seen for the first tile, then for the next one. In a decoder with cross-attention
/// there are `self_attention` and `cross_attention`; keys and values of the latter are made once for the source, and not shown.
/// The outputs of the model are the same bits with and without an observer. What a kernel does not keep (the output of a layer
/// goes right into the residual stream) is computed once more to be seen; without an observer there is no code for any of it.
pub trait Observer {
    /// Whether anything is to be seen.
    const ACTIVE: bool = true;

    /// `values` are what is called `name`, of the token at position `token`.
    fn see(&mut self, name: &Name<'_>, token: usize, values: &[f32]);

    /// The layer of a stack that is called `name` is done. Nothing is computed for it, and it is called whether or not the observer is
    /// active: to read a timer, say.
    ///
    /// ```
    /// use constformer::{Encoder, Kwt, Layer, Memory, Name, Observer, Working, boxed};
    ///
    /// /// Ticks at which each of four layers was done.
    /// struct Ticks<T> {
    ///     timer: T,
    ///     layers: Vec<u32>,
    /// }
    ///
    /// impl<T: FnMut() -> u32> Observer for Ticks<T> {
    ///     const ACTIVE: bool = false; // no activation is wanted
    ///
    ///     fn see(&mut self, _: &Name<'_>, _: usize, _: &[f32]) {}
    ///
    ///     fn layer(&mut self, _: &Name<'_>) {
    ///         self.layers.push((self.timer)());
    ///     }
    /// }
    ///
    /// let encoder = boxed::<Encoder<Kwt, 4, 64, 256, 1>>();
    /// let mut memory = boxed::<Memory<Encoder<Kwt, 4, 64, 256, 1>, 99>>();
    /// let Working { stream, scratch } = &mut *memory;
    /// let mut ticks = Ticks { timer: || 42, layers: vec![] }; // really a counter of the processor
    /// encoder.observe(stream, scratch, &Name::ROOT, &mut ticks);
    /// assert_eq!(ticks.layers, [42; 4]);
    /// ```
    fn layer(&mut self, _name: &Name<'_>) {}
}

impl<F: FnMut(&Name<'_>, usize, &[f32])> Observer for F {
    fn see(&mut self, name: &Name<'_>, token: usize, values: &[f32]) {
        self(name, token, values);
    }
}

/// Nobody looks.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn see(&mut self, _: &Name<'_>, _: usize, _: &[f32]) {}
}

/// An observer of what is below a name, from a token on.
#[doc(hidden)]
#[derive(Debug)]
pub struct Watch<'a, O> {
    name: Name<'a>,
    token: usize,
    observer: &'a mut O,
}

impl<'a, O: Observer> Watch<'a, O> {
    /// Of what is below `name`.
    pub(crate) fn new(name: &Name<'a>, observer: &'a mut O) -> Self {
        Self { name: *name, token: 0, observer }
    }

    /// The same.
    pub(crate) fn by_ref(&mut self) -> Watch<'_, O> {
        self.at(self.token)
    }

    /// The same, `rows` tokens further.
    pub(crate) fn further(&mut self, rows: usize) -> Watch<'_, O> {
        self.at(self.token + rows)
    }

    /// The same, below `field`.
    pub(crate) fn field<'b>(&'b mut self, field: &'b str) -> Watch<'b, O> {
        Watch { name: self.name.field(field), token: self.token, observer: self.observer }
    }

    /// The same, below `index`.
    pub(crate) fn index(&mut self, index: usize) -> Watch<'_, O> {
        Watch { name: self.name.index(index), token: self.token, observer: self.observer }
    }

    /// The same, from `token` on.
    pub(crate) fn at(&mut self, token: usize) -> Watch<'_, O> {
        Watch { name: self.name, token, observer: self.observer }
    }

    /// Sees `values` of the token that is `row` tokens further.
    pub(crate) fn row(&mut self, row: usize, values: &[f32]) {
        if O::ACTIVE {
            self.observer.see(&self.name, self.token + row, values);
        }
    }

    /// Sees the tokens of a sequence.
    pub(crate) fn sequence<S: TokenFormat, const D_MODEL: usize, const SEQ_LEN: usize>(
        &mut self,
        x: &Sequence<D_MODEL, SEQ_LEN, S>,
    ) {
        if O::ACTIVE {
            x.read(|first, tokens| self.further(first).rows(tokens));
        }
    }

    /// Sees one token a row.
    pub(crate) fn rows<X: Number, const N: usize>(&mut self, rows: &[[X; N]]) {
        if O::ACTIVE {
            for (i, row) in rows.iter().enumerate() {
                self.row(i, &row.map(X::to_f32));
            }
        }
    }
}
