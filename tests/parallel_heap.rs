//! Parallel forward passes allocate nothing of their own: what rayon needs, it has after the first one. (One test, so that no other
//! counts.)

mod common;

use common::random::Random;
use constformer::{
    Decoder, Encoder, Llama, ParallelLayer, ParallelScratch, Scratch, Sequence, Vit, boxed, forward_batch_parallel,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn no_heap() {
    let mut encoder = boxed::<Encoder<Vit, 2, 21, 35, 3>>();
    let mut decoder = boxed::<Decoder<Llama, 2, 24, 37, 6, f32, 2, 8>>();
    Random(7).fill(&mut *encoder);
    Random(7).fill(&mut *decoder);
    let mut x = boxed::<Sequence<21, 101>>();
    x.assign(&Random(3).tokens(101)).unwrap();
    let mut y = boxed::<Sequence<24, 101>>();
    y.assign(&Random(3).tokens(101)).unwrap();
    let mut batch = vec![(*x).clone(); 9];
    let mut scratch = boxed::<ParallelScratch<21, 35, 101, 4, 16>>();
    let mut of_decoder = boxed::<ParallelScratch<24, 37, 101, 4, 16, 8>>();
    let mut scratches = boxed::<[Scratch<21, 35, 101, 16>; 4]>();
    let mut all = || {
        encoder.forward_parallel(&mut x, &mut scratch);
        decoder.forward_parallel(&mut y, &mut of_decoder);
        forward_batch_parallel(&*encoder, &mut batch, &mut scratches);
    };
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // Also each thread's share of what is collected later, of the crate crossbeam-epoch, is allocated when it first steals.
        pool.install(|| (0..100).for_each(|_| all()));
        let region = Region::new(ALLOCATOR);
        pool.install(|| (0..100).for_each(|_| all()));
        let inside = region.change();
        let region = Region::new(ALLOCATOR);
        (0..100).for_each(|_| pool.install(&mut all));
        let outside = region.change();
        println!("{threads} threads, of 300 passes: in the pool {inside:?}; each from outside {outside:?}");
        assert_eq!((inside.allocations, inside.reallocations), (0, 0), "{threads} threads");
        // From outside of the pool it is a job in rayon's queue, which allocates for 63 at a time.
        assert!(outside.allocations <= 4, "{threads} threads: {outside:?}");
    }
}
