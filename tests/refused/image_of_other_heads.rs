//! The same number of bytes, but two heads and not four.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 8, 8, 4>;

static BLOCK: &Block = include_model!(Block, "images/block.cfm");

fn main() {
    let _ = BLOCK;
}
