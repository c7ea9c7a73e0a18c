//! The names of this library.

use crate::load::{Origin, Scheme};

/// Names and shapes are those of [`for_each_tensor`](crate::Parameters::for_each_tensor).
#[derive(Debug)]
pub enum Native {}

impl Scheme for Native {
    fn origin(name: &str) -> Option<Origin> {
        Some(Origin::new(name))
    }
}
