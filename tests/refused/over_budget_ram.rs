//! More working memory than RAM.

use constformer::{Encoder, Kwt, Plan};

type Kws = Encoder<Kwt, 12, 64, 256, 1>;

const _: () = Plan::<Kws, 99, 4>::assert_fits(4_194_304, 65_536);

fn main() {}
