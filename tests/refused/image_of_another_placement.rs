//! The same number of bytes, but Pre-LN and not Post-LN.

use constformer::{Bert, EncoderBlock, include_model};

type Block = EncoderBlock<Bert, 8, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/block.cfm");

fn main() {
    let _ = BLOCK;
}
