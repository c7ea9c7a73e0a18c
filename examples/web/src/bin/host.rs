//! Reads all test images on this machine, for `test` to compare with what the module says: per image its label, and the bits of its logits.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), constformer::InputError> {
    use web::{Image, Reader};

    let images = include_bytes!("../../../digits/test_images.bin").as_chunks::<65>().0;
    let mut reader = Box::new(Reader::NEW);
    for [pixels @ .., label] in images {
        let rows = pixels.as_chunks::<8>().0;
        reader.image = Image(std::array::from_fn(|y| rows[y]));
        reader.read()?;
        println!("{label} {}", reader.logits.map(|logit| format!("{:08x}", logit.to_bits())).join(" "));
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {} // a program of the host's alone
