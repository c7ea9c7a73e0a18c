//! The pictures in `docs` are those that the example `pictures` draws, byte for byte.

#[path = "../examples/pictures/draw/mod.rs"]
mod draw;

use std::{fs, path::Path};

#[test]
fn pictures_are_drawn_by_the_example() {
    for (name, picture) in draw::all().unwrap() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        assert!(picture.len() < 150_000, "docs/{name} has {} bytes", picture.len());
        assert!(
            fs::read_to_string(path).unwrap() == picture,
            "draw docs/{name} anew: cargo run --release --example pictures"
        );
    }
}
