//! `allocations WORKLOAD`: how often each framework calls the allocator in a forward pass, as JSON. A program of its own, since
//! to count takes time.

use peers::{peers as frameworks, workload};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let name = std::env::args().nth(1).expect("the name of a workload");
    let workload = workload::all().into_iter().find(|workload| workload.name == name).expect("a workload of that name");
    let past = frameworks::past(&workload);
    let count = |framework: frameworks::Framework| {
        let mut peer = (framework.load)(&workload, &past);
        peer.forward();
        let region = Region::new(ALLOCATOR);
        peer.forward();
        let change = region.change();
        (framework.name, change.allocations + change.reallocations)
    };
    let counts: Vec<_> = frameworks::all().into_iter().map(count).collect();
    println!("{}", serde_json::to_string(&counts).expect("JSON"));
}
