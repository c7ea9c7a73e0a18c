//! A file transferred as text: its first bytes are damaged.

use constformer::{EncoderBlock, Vit, include_model};

type Block = EncoderBlock<Vit, 8, 8, 2>;

static BLOCK: &Block = include_model!(Block, "images/as_text.cfm");

fn main() {
    let _ = BLOCK;
}
