//! The law kit catches three blocks that look right, and passes those of the library.
//!
//! ```sh
//! cargo run --release --example law_kit
//! ```
//!
//! In your own crate this is a line in a test, `laws::check::block::<MyBlock, D_MODEL, SEQ_LEN>()`, which panics with what is
//! printed here.

mod epsilon_outside;
mod leak;
mod no_residual;

use constformer::{
    Bert, Gpt2, Llama, Vit,
    laws::{Counterexample, search},
};
use std::process::ExitCode;

fn main() -> ExitCode {
    let faults: [(_, _, Option<Counterexample>); 3] = [
        ("epsilon outside of the root", "layer_norm::moments", search::block::<epsilon_outside::Block, 6, 5>()),
        ("the residual dropped", "residual::zero_branches", search::block::<no_residual::NoResidual, 6, 5>()),
        ("a causal leak", "attention::prefix", search::block::<leak::Leak, 6, 5>()),
    ];
    let mut as_it_should_be = true;
    for (fault, law, found) in faults {
        println!("== {fault}\n");
        if let Some(counterexample) = found {
            as_it_should_be &= counterexample.law == law;
            println!("{counterexample}\n");
        } else {
            as_it_should_be = false;
            println!("NOT CAUGHT\n");
        }
    }

    println!("== without a fault\n");
    for (name, found) in [
        ("the leaking block, mended", search::block::<leak::Ahead<0>, 6, 5>()),
        ("the family Bert", search::family::<Bert, 6, 10, 2, 5>()),
        ("the family Vit", search::family::<Vit, 6, 10, 2, 5>()),
        ("the family Gpt2", search::family::<Gpt2, 6, 10, 2, 5>()),
        ("the family Llama", search::family::<Llama, 12, 10, 3, 5>()),
    ] {
        match found {
            None => println!("{name}: every law holds"),
            Some(counterexample) => {
                as_it_should_be = false;
                println!("{name}: {counterexample}");
            }
        }
    }
    if as_it_should_be { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
