//! Images of models.

use super::counterexample::{Found, find};
use crate::{
    Parameters,
    laws::{damaged_images, image as of_image, models},
};

/// As [`check::image`](crate::laws::check::image).
#[must_use]
pub fn image<M: Parameters>() -> Found {
    find::<M, _>("image::round_trip", (models::<M>(),), |(model,)| of_image::round_trip(&*model))
        .or_else(|| find::<M, _>("image::damaged", damaged_images::<M>(), |image| of_image::damaged(&image)))
}
