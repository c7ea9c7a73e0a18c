//! A cache of four layers for a decoder of five.

use constformer::{Cache, CachedLayer, Decoder, Llama, Sequence, TileScratch};

fn next(
    decoder: &Decoder<Llama, 5, 64, 172, 8, f32, 4, 32>,
    x: &mut Sequence<64, 1>,
    cache: &mut Cache<4, 32, 512>,
    scratch: &mut TileScratch<64, 172, 512>,
) {
    let _ = decoder.extend(x, cache, scratch);
}

fn main() {
    let _ = next;
}
