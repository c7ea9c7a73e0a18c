//! Laws of length and memory: what a layer is not given cannot change what it returns. All of them hold bit for bit.

use super::{Law, Padded, holds, run, run_in, same, sequence, too_long, values};
use crate::{Layer, Sequence, boxed};
use std::{format, vec::Vec};

/// Neither what lies beyond the tokens in use nor what the scratch holds matters, and as many tokens come out as went in
///
/// Both are filled with NaN, which would spread to whatever reads it: the sequence before the tokens are assigned, the scratch
/// by a pass over a full sequence of NaN.
pub fn padding<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    padding_of::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)
}

fn padding_of<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let clean = run::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens)?;
    holds(clean.len() == tokens.len(), || format!("{} tokens come out of {}", clean.len(), tokens.len()))?;

    let mut scratch = boxed::<L::Scratch<SEQ_LEN, TILE>>();
    let mut x = sequence::<D_MODEL, SEQ_LEN, L::Stream>(tokens)?;
    let refill = |x: &mut Sequence<D_MODEL, SEQ_LEN, L::Stream>| {
        let _ = x.resize(SEQ_LEN);
        x.update(|_, tokens| tokens.fill([f32::NAN; D_MODEL]));
    };
    refill(&mut x);
    layer.forward(&mut x, &mut scratch);
    refill(&mut x);
    let _ = x.assign(tokens); // there was room for them before
    layer.forward(&mut x, &mut scratch);
    same("among NaN", &values(&x), &clean)
}

/// What lies beyond the tokens in use does not matter, whatever it is
///
/// A layer reads no more than the tokens in use.
pub fn junk<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    x: &Padded<D_MODEL>,
) -> Law {
    junk_of::<D_MODEL, SEQ_LEN, TILE, _>(layer, x)
}

fn junk_of<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    x: &Padded<D_MODEL>,
) -> Law {
    let clean = run::<D_MODEL, SEQ_LEN, TILE, L>(layer, &x.tokens)?;
    let mut found = x.sequence::<SEQ_LEN, L::Stream>().map_err(too_long)?;
    layer.forward(&mut found, &mut boxed::<L::Scratch<SEQ_LEN, TILE>>());
    same(&format!("with {:?} beyond", x.junk), &values(&found), &clean)
}

/// A larger `SEQ_LEN` changes nothing
///
/// `SEQ_LEN` is a capacity; only the tokens in use are computed with.
pub fn capacity<const D_MODEL: usize, const SEQ_LEN: usize, const LARGER: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let found = run::<D_MODEL, LARGER, TILE, _>(layer, tokens)?;
    same("with more room", &found, &run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?)
}

/// Another `TILE` changes nothing
///
/// A tile is how many tokens share a reading of the weights; each of them is computed alone. (The numbers must be finite: see
/// [`Causal`](crate::Causal).)
pub fn tiles<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, const OTHER: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let found = run::<D_MODEL, SEQ_LEN, OTHER, _>(layer, tokens)?;
    same("in other tiles", &found, &run::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)?)
}

/// A batch is its sequences one by one
///
/// Sequences do not see one another, and share nothing but the weights and the scratch.
pub fn batch<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    batch: &[Vec<[f32; D_MODEL]>],
) -> Law {
    batch_of::<D_MODEL, SEQ_LEN, TILE, _>(layer, batch)
}

fn batch_of<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    batch: &[Vec<[f32; D_MODEL]>],
) -> Law {
    let mut together = Vec::new();
    for tokens in batch {
        together.push((*sequence::<D_MODEL, SEQ_LEN, L::Stream>(tokens)?).clone());
    }
    layer.forward_batch(&mut together, &mut boxed::<L::Scratch<SEQ_LEN, TILE>>());
    for (i, (tokens, found)) in batch.iter().zip(&together).enumerate() {
        let single = run::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens)?;
        same(&format!("sequence {i} of {}", batch.len()), &values(found), &single)?;
    }
    Ok(())
}

/// The same again gives the same, in new memory and in used
///
/// A layer has no state.
pub fn repetition<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize>(
    layer: &impl Layer<D_MODEL>,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    repetition_of::<D_MODEL, SEQ_LEN, TILE, _>(layer, tokens)
}

fn repetition_of<const D_MODEL: usize, const SEQ_LEN: usize, const TILE: usize, L: Layer<D_MODEL>>(
    layer: &L,
    tokens: &[[f32; D_MODEL]],
) -> Law {
    let mut scratch = boxed::<L::Scratch<SEQ_LEN, TILE>>();
    let first = run_in::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens, &mut scratch)?;
    same("in used memory", &run_in::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens, &mut scratch)?, &first)?;
    same("in new memory", &run::<D_MODEL, SEQ_LEN, TILE, L>(layer, tokens)?, &first)
}
