//! A file of a later version of this library.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 8, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/version_2.cfm");

fn main() {
    let _ = BLOCK;
}
