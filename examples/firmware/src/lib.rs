//! What the programs of this package share.

#![cfg_attr(target_os = "none", no_std)]

pub mod board;
pub mod digits;
#[cfg(feature = "models")]
pub mod kws;
pub mod models;
#[cfg(target_os = "none")]
mod panic;
pub mod report;
mod trace;

pub use trace::Trace;

/// Makes `run`, which returns whether all is well, the program.
#[macro_export]
macro_rules! program {
    ($run:path) => {
        #[cfg(target_os = "none")]
        #[$crate::board::entry]
        fn main() -> ! {
            $crate::board::exit($run())
        }

        #[cfg(not(target_os = "none"))]
        fn main() {
            $crate::board::exit($run())
        }
    };
}
