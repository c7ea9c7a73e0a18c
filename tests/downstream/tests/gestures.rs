//! The model of the crate runs, from flash and from bytes.

#![cfg(feature = "flash")]

mod common;

use common::gestures;
use constformer::{EncoderBlock, Memory, Plan, Scratch, Sequence, Vit, Working, Zero, image};
use downstream::{AXES, Blocks, GESTURES_MODEL, Gestures, MEMORY, Repeated, SEQ_LEN};

/// Bytes at an address at which numbers can be read.
#[repr(C, align(16))]
struct Aligned<const N: usize>([u8; N]);

static BYTES: Aligned<{ include_bytes!("../gestures.cfm").len() }> = Aligned(*include_bytes!("../gestures.cfm"));

fn series(len: usize) -> Sequence<AXES, SEQ_LEN> {
    let mut series = Sequence::new();
    for p in 0..len {
        series.push(&std::array::from_fn(|axis| ((p * AXES + axis) % 11) as f32 / 11.0 - 0.5)).unwrap();
    }
    series
}

#[test]
fn flash_and_bytes_hold_the_same_model() {
    let model = image::from_bytes::<Gestures>(&BYTES.0).unwrap();
    assert_eq!(model.embedding.bias, GESTURES_MODEL.embedding.bias);
    let mut memory = Memory::<Gestures, SEQ_LEN, 7>::ZERO;
    let a = model.forward(&series(SEQ_LEN), &mut memory).unwrap();
    let b = GESTURES_MODEL.forward(&series(SEQ_LEN), &mut memory).unwrap();
    let c = gestures().forward(&series(SEQ_LEN), &mut memory).unwrap();
    assert_eq!((a, a), (b, c));
    assert!(a.iter().all(|score| score.is_finite()) && a.iter().any(|score| score.abs() > 1e-3), "{a:?}");
}

#[test]
fn a_damaged_image_is_refused() {
    let mut damaged = Aligned(BYTES.0);
    *damaged.0.last_mut().unwrap() ^= 1;
    assert!(matches!(image::from_bytes::<Gestures>(&damaged.0), Err(image::ImageError::Checksum { .. })));
    assert!(matches!(image::from_bytes::<Blocks>(&BYTES.0), Err(image::ImageError::Structure { .. })));
}

#[test]
fn the_memory_is_a_static() {
    let memory = MEMORY.take();
    let short = GESTURES_MODEL.forward(&series(5), memory).unwrap();
    let long = GESTURES_MODEL.forward(&series(SEQ_LEN), memory).unwrap();
    assert_ne!(short, long);
    assert_eq!(GESTURES_MODEL.forward(&series(5), memory), Ok(short)); // whatever the memory held
    assert!(GESTURES_MODEL.forward(&series(0), memory).is_err());
}

#[test]
fn the_plan_is_that_of_the_parts() {
    // 6 · 9 + 9, 33 · 9, twice (4 · 81 + 9, 2 · 9 · 14 and 2 · 9), 9, 9 · 5
    assert_eq!(Plan::<Gestures, SEQ_LEN, 4>::PARAMETERS, 63 + 297 + 2 * (333 + 252 + 18) + 9 + 45);
    // 33 (6 · 9 + 2 (4 · 81 + 2 · 9 · 14)), twice 33 · 34 / 2 pairs of 2 · 9, 9 · 5
    assert_eq!(Plan::<Gestures, SEQ_LEN, 4>::MACS, 33 * (54 + 2 * 576) + 2 * 561 * 18 + 45);
}

#[test]
fn generic_code_runs() {
    static BLOCK: EncoderBlock<Vit, 15, 15, 5> = Zero::ZERO;
    let mut x = Sequence::<15, 8>::new();
    x.push(&[-0.5; 15]).unwrap();
    let mut scratch = Scratch::ZERO;
    assert_eq!(downstream::peak(&BLOCK, &mut x, &mut scratch), 0.5); // zero weights add nothing to the stream
    Repeated::new(&BLOCK, 3).forward(&mut x, &mut scratch);
    assert_eq!(x.tokens(), [[-0.5; 15]]);
    let mut memory = Working { stream: x, scratch };
    downstream::run(&BLOCK, &mut memory);
    assert_eq!(memory.stream.tokens(), [[-0.5; 15]]);
}
