//! KWT-1 hears a word without a floating-point operation, in 28 KB of RAM: `run` finds no function for one in the program.

#![cfg_attr(target_os = "none", no_std, no_main)]

use constformer::{Int8, Int8Stream, IntegerOnly, Zero, include_model};
use firmware::{
    kws::hears,
    models::{KwsIntegers, KwsMemory},
};
use static_cell::ConstStaticCell;

firmware::program!(run);

/// The model, in flash: the image of `kws_int8`.
static KWS: &KwsIntegers = include_model!(KwsIntegers, concat!(env!("FIRMWARE_MODELS"), "/kws_int8.cfm"));

type IntegersMemory = KwsMemory<Int8Stream<IntegerOnly<Int8>>>;

/// Its working memory, in RAM.
static MEMORY: ConstStaticCell<IntegersMemory> = ConstStaticCell::new(Zero::ZERO);

fn run() -> bool {
    MEMORY.try_take().is_some_and(|memory| hears(KWS, memory, 0.3))
}
