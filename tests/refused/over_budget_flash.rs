//! More weights than flash.

use constformer::{Encoder, Kwt, Plan};

type Kws = Encoder<Kwt, 12, 64, 256, 1>;

const _: () = Plan::<Kws, 99, 4>::assert_fits(1_048_576, 131_072);

fn main() {}
