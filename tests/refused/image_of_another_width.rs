//! Another number of features.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 16, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/block.cfm");

fn main() {
    let _ = BLOCK;
}
