//! Reads all test images on this machine as the example `digits` does, for `test` to compare with what the module says: per image its
//! label, the bits of its logits, and a hash of those of all attention.

#[cfg(not(target_arch = "wasm32"))]
#[path = "../../../digits/model.rs"]
mod model;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), constformer::InputError> {
    use constformer::{Memory, Name, Zero, include_model, patches};
    use model::{Digits, TOKENS};
    use std::collections::BTreeMap;

    static DIGITS: &Digits = include_model!(Digits, "../../../digits/digits.cfm");
    let mut memory = Memory::<Digits, TOKENS>::ZERO;
    for [pixels @ .., label] in include_bytes!("../../../digits/test_images.bin").as_chunks::<65>().0 {
        let image = std::array::from_fn(|y| std::array::from_fn(|x| f32::from(pixels[8 * y + x]) / 16.0));
        let mut weights = BTreeMap::<String, Vec<f32>>::new(); // sorted: by layer, then head, since both are single digits
        let mut see = |name: &Name<'_>, _token: usize, values: &[f32]| {
            let name = name.to_string();
            if name.contains(".weights.") {
                weights.entry(name).or_default().extend(values); // tokens come in their order
            }
        };
        let logits = DIGITS.observe(&patches::<8, 8, 2, 4, 16>(&image), &mut memory, &mut see)?;
        // FNV-1a, 32 bits at a time.
        let attention = weights
            .values()
            .flatten()
            .fold(0x811c_9dc5_u32, |hash, weight| (hash ^ weight.to_bits()).wrapping_mul(0x0100_0193));
        println!("{label} {} {attention:08x}", logits.map(|logit| format!("{:08x}", logit.to_bits())).join(" "));
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {} // a program of the host's alone
