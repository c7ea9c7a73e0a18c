//! A file of an earlier version of this library.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 8, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/version_1.cfm");

fn main() {
    let _ = BLOCK;
}
