//! A file of which the last four bytes are lost.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 8, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/truncated.cfm");

fn main() {
    let _ = BLOCK;
}
