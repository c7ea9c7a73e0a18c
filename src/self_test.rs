//! Tests of a model where it runs.

use crate::parameters;
use core::{error::Error, fmt};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// An input and the output that it must give: a part of a model of one's own, so that it lies in the same image, and a device can find out
/// at boot whether flash, compiler and processor are good.
///
/// The input is `INPUTS` vectors of `FEATURES` numbers, the output `OUTPUTS` numbers.
///
/// ```
/// use constformer::*;
///
/// type Kws = Classifier<PatchEmbedding<40, 64, 99>, Encoder<Kwt, 2, 64, 256, 1>, 64, 12>;
///
/// model! {
///     pub struct Tested {
///         pub model: Kws,
///         pub test: SelfTest<40, 98, 12>, // FEATURES, INPUTS, OUTPUTS
///     }
/// }
///
/// let tested = boxed::<Tested>(); // on a device, `include_model!`
/// let mut memory = boxed::<Memory<Kws, 99, 4>>();
/// let found = tested.model.forward(&tested.test.input, &mut memory)?;
/// tested.test.check(&found, 1e-5)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SelfTest<const FEATURES: usize, const INPUTS: usize, const OUTPUTS: usize> {
    /// The input.
    pub input: [[f32; FEATURES]; INPUTS],
    /// The output that was found when the image was made.
    pub output: [f32; OUTPUTS],
}

parameters! {
    [const FEATURES: usize, const INPUTS: usize, const OUTPUTS: usize] SelfTest<FEATURES, INPUTS, OUTPUTS> { input, output }
    structure: |fingerprint| fingerprint.name("self test");
}

impl<const FEATURES: usize, const INPUTS: usize, const OUTPUTS: usize> SelfTest<FEATURES, INPUTS, OUTPUTS> {
    /// Whether `found` is the output, each number within `tolerance`. Processors without fused multiply-adds have the same bits, so between
    /// them a tolerance of 0 is right.
    ///
    /// # Errors
    ///
    /// [`SelfTestFailed`] with the first number that is not.
    pub fn check(&self, found: &[f32; OUTPUTS], tolerance: f32) -> Result<(), SelfTestFailed> {
        for (place, (expected, found)) in self.output.iter().zip(found).enumerate() {
            // A NaN is near nothing.
            let near = expected.to_bits() == found.to_bits() || (found - expected).abs() <= tolerance;
            if !near {
                return Err(SelfTestFailed { place, expected: *expected, found: *found });
            }
        }
        Ok(())
    }
}

/// The output of a model is not what it was when its image was made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SelfTestFailed {
    /// Which of the outputs.
    pub place: usize,
    /// What it was.
    pub expected: f32,
    /// What it is.
    pub found: f32,
}

impl fmt::Display for SelfTestFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, expected, found } = self;
        write!(f, "the self-test failed: output {place} is {found}, {expected} expected")
    }
}

impl Error for SelfTestFailed {}
