//! Models run on fixed inputs: in the test, and in the program that the modules are compiled into.

use constformer::*;

const IDS: [u32; 7] = [2, 0, 1, 1, 0, 2, 1];

fn token<const N: usize>(seed: usize) -> [f32; N] {
    core::array::from_fn(|i| ((i * 7 + seed * 5) % 13) as f32 / 6.0 - 1.0)
}

/// All hidden states and the vector of the text.
pub(crate) fn text_encoder<E, L, const D: usize, P>(model: &TextEncoder<E, L, D, P>) -> Vec<f32>
where
    E: Embedding<D, Input = u32>,
    L: Layer<D, Stream = f32>,
    P: Pooling,
{
    let mut memory = boxed::<Working<D, 9, L::Scratch<9, 4>>>();
    let mut all = model.hidden(&IDS, &mut memory).unwrap().as_flattened().to_vec();
    all.extend(model.forward(&IDS, &mut memory).unwrap());
    all
}

/// The logits of the last token.
pub(crate) fn language_model<E, L, const D: usize, const V: usize, H>(model: &LanguageModel<E, L, D, V, H>) -> Vec<f32>
where
    E: Embedding<D, Input = u32>,
    L: Layer<D, Stream = f32>,
    H: Head<E, D, V>,
{
    let mut memory = boxed::<Working<D, 9, L::Scratch<9, 4>>>();
    let mut logits = [0.0; V];
    model.forward(&IDS, &mut memory, &mut logits).unwrap();
    logits.to_vec()
}

/// The logits of 98 frames.
pub(crate) fn classifier<E, L, const F: usize, const D: usize, const C: usize>(
    model: &Classifier<E, L, D, C>,
) -> Vec<f32>
where
    E: Embedding<D, Input = [f32; F]>,
    L: Layer<D, Stream = f32>,
    Width<D>: KnownWidth,
{
    let mut memory = boxed::<Working<D, 99, L::Scratch<99, 4>>>();
    let frames: Vec<_> = (0..98).map(token).collect();
    model.forward(&frames, &mut memory).unwrap().to_vec()
}

fn sequence<const D: usize>(seed: usize) -> Sequence<D, 9> {
    let mut x = Sequence::new();
    (0..7).for_each(|i| x.push(&token(seed + i)).unwrap());
    x
}

/// All tokens.
pub(crate) fn layer<L: Layer<D, Stream = f32>, const D: usize>(model: &L) -> Vec<f32> {
    let mut x = sequence(0);
    model.forward(&mut x, &mut *boxed::<L::Scratch<9, 4>>());
    x.tokens().as_flattened().to_vec()
}

/// All tokens of the target.
pub(crate) fn cross<F: Family, const LAYERS: usize, const D: usize, const FF: usize, const HEADS: usize>(
    decoder: &CrossDecoder<F, LAYERS, D, FF, HEADS>,
    encoded: &Sequence<D, 9>,
) -> Vec<f32>
where
    Width<D>: SplitInto<HEADS>,
    Width<FF>: KnownWidth,
{
    let mut source = boxed::<Source<LAYERS, D, 9>>();
    decoder.attend_to(encoded, &mut source);
    let mut x = sequence(3);
    let mut cache = boxed::<Cache<LAYERS, D, 9>>();
    decoder.extend(&mut x, &source, &mut cache, &mut *boxed::<CrossScratch<D, FF, 9, 9, 4>>()).unwrap();
    x.tokens().as_flattened().to_vec()
}

/// As [`cross`], with a source that is no encoder's output.
pub(crate) fn cross_decoder<F: Family, const LAYERS: usize, const D: usize, const FF: usize, const HEADS: usize>(
    decoder: &CrossDecoder<F, LAYERS, D, FF, HEADS>,
) -> Vec<f32>
where
    Width<D>: SplitInto<HEADS>,
    Width<FF>: KnownWidth,
{
    cross(decoder, &sequence(11))
}

/// `nn.Transformer`: an encoder, and a decoder that attends to its output.
pub(crate) fn transformer<
    F: Family,
    L: Layer<D, Stream = f32>,
    const LAYERS: usize,
    const D: usize,
    const FF: usize,
    const HEADS: usize,
>(
    encoder: &L,
    decoder: &CrossDecoder<F, LAYERS, D, FF, HEADS>,
) -> Vec<f32>
where
    Width<D>: SplitInto<HEADS>,
    Width<FF>: KnownWidth,
{
    let mut x = sequence(0);
    encoder.forward(&mut x, &mut *boxed::<L::Scratch<9, 4>>());
    cross(decoder, &x)
}
