//! The figures in the README are those of the compiler.

use constformer::{Bert, Classifier, Encoder, Kwt, Model, PatchEmbedding, Plan, Vit};

/// 1234567 as 1,234,567.
fn grouped(n: u64) -> String {
    let mut text = n.to_string();
    let mut i = text.len();
    while i > 3 {
        i -= 3;
        text.insert(i, ',');
    }
    text
}

fn row<M: Model, const SEQ_LEN: usize, const TILE: usize>() -> String {
    type P<M, const SEQ_LEN: usize, const TILE: usize> = Plan<M, SEQ_LEN, TILE>;
    let figures = [
        P::<M, SEQ_LEN, TILE>::PARAMETERS as u64,
        P::<M, SEQ_LEN, TILE>::FLASH as u64,
        P::<M, SEQ_LEN, TILE>::RAM as u64,
        P::<M, SEQ_LEN, TILE>::MACS,
    ];
    format!("| {SEQ_LEN} | {TILE} | {} |", figures.map(grouped).join(" | "))
}

#[test]
fn memory_table() {
    for row in [
        row::<Classifier<PatchEmbedding<4, 32, 17>, Encoder<Vit, 2, 32, 96, 4>, 32, 10>, 17, 4>(),
        row::<Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 12, 64, 256, 1>, 64, 12>, 99, 4>(),
        row::<Encoder<Bert, 6, 384, 1536, 12>, 128, 48>(),
    ] {
        assert!(include_str!("../README.md").contains(&row), "the README lacks the row {row}");
    }
}
