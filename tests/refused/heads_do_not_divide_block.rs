//! The same in the middle of a function, without a type of one's own.

use constformer::{Bert, EncoderBlock, boxed};

fn main() {
    let _block = boxed::<EncoderBlock<Bert, 384, 1536, 11>>();
}
