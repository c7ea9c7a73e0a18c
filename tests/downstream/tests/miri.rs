//! `Boxed`, whose code is `unsafe`, for Miri: in this crate, since it has few dependencies to interpret.
//!
//! `cargo +nightly miri test --features std --test miri`, in the folder of this crate.

#![cfg(feature = "std")]

#[path = "../../boxed.rs"]
mod boxed;
