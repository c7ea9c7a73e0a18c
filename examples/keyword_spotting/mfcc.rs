//! The MFCC front end of KWT-1, without a heap and without `std`: for firmware too.
//!
//! A frame x of 480 samples, every 160 samples, of 16,000 a second:
//!
//! | step | formula |
//! |---|---|
//! | window | xₙ (1 - cos(2πn / 480)) / 2 |
//! | magnitudes | mₖ = &#124;Σₙ xₙ exp(-2πi nk / 512)&#124; |
//! | mel scale | f Hz are 1127 ln(1 + f / 700) mel |
//! | bands | eⱼ = Σₖ wⱼₖ mₖ: 80 triangles, whose corners lie evenly in mel from 20 Hz to 7,600 Hz |
//! | logarithm | lⱼ = ln max(eⱼ, 10⁻¹²) |
//! | cosines | cᵢ = √(2/80) Σⱼ lⱼ cos(πi (j + 1/2) / 80), the first 40 |
//!
//! It is what `kws_streaming` calls `mfcc_tf`. A band is exact to 3e-7 of the loudest one of its frame. Samples are from -1 to 1; one that is no number makes the frames that it is in
//! NaN.

use constformer::math::sqrt;
use core::f64::consts::PI;
use microfft::real::rfft_512;

/// Samples of a clip, one second.
pub(crate) const SAMPLES: usize = 16_000;
/// Samples of a frame.
pub(crate) const WINDOW: usize = 480;
/// Samples from one frame to the next.
pub(crate) const HOP: usize = 160;
/// Frames of a clip.
pub(crate) const FRAMES: usize = (SAMPLES - WINDOW) / HOP + 1;
/// Features of a frame.
pub(crate) const FEATURES: usize = 40;
/// Triangles on the mel scale.
pub(crate) const BANDS: usize = 80;
/// Frequencies from 0 to 8,000 Hz.
pub(crate) const FREQUENCIES: usize = FFT / 2 + 1;

const FFT: usize = 512;
const LOWEST: f64 = 20.0;
const HIGHEST: f64 = 7_600.0;
/// The frequencies that are in a band: those between the lowest and the highest.
const FIRST: usize = LOWEST as usize * FFT / SAMPLES + 1;
const BINS: usize = HIGHEST as usize * FFT / SAMPLES + 1 - FIRST;
const FLOOR: f32 = 1e-12;

/// The tables of the formulas, 5 KB, made once.
pub(crate) struct Mfcc {
    window: [f32; WINDOW],
    bins: [Bin; BINS],
    /// √(2/80) cos(πi / 160): all that the transform needs, since its angles are multiples of that one.
    cosines: [f32; 4 * BANDS],
}

/// Where a frequency lies among the corners of the triangles: it belongs to one that falls and to the next, which rises.
#[derive(Clone, Copy)]
struct Bin {
    falling: u8,
    /// Its weight in the triangle that rises; 1 less that in the one that falls.
    rising: f32,
}

/// What a frame needs beside the tables.
pub(crate) struct Scratch {
    spectrum: [f32; FFT],
    magnitudes: [f32; FREQUENCIES],
    /// One more at either end, the triangles that fall before the first and rise after the last.
    bands: [f32; BANDS + 2],
}

impl Scratch {
    pub(crate) const ZERO: Self =
        Self { spectrum: [0.0; FFT], magnitudes: [0.0; FREQUENCIES], bands: [0.0; BANDS + 2] };
}

impl Mfcc {
    /// Makes the tables, in `f64`.
    pub(crate) fn new() -> Self {
        let hann = |n: usize| 0.5 - 0.5 * libm::cos(2.0 * PI * n as f64 / WINDOW as f64);
        let mel = |hertz: f64| 1127.0 * libm::log(1.0 + hertz / 700.0);
        let step = (mel(HIGHEST) - mel(LOWEST)) / (BANDS + 1) as f64;
        let bin = |i: usize| {
            let place = (mel((FIRST + i) as f64 * SAMPLES as f64 / FFT as f64) - mel(LOWEST)) / step;
            Bin { falling: place as u8, rising: (place - libm::floor(place)) as f32 }
        };
        let cosine = |i: usize| libm::sqrt(2.0 / BANDS as f64) * libm::cos(PI * i as f64 / (2 * BANDS) as f64);
        Self {
            window: core::array::from_fn(|n| hann(n) as f32),
            bins: core::array::from_fn(bin),
            cosines: core::array::from_fn(|i| cosine(i) as f32),
        }
    }

    /// The features of a clip.
    pub(crate) fn frames(&self, clip: &[f32; SAMPLES], frames: &mut [[f32; FEATURES]; FRAMES], scratch: &mut Scratch) {
        for (features, samples) in frames.iter_mut().zip(clip.windows(WINDOW).step_by(HOP)) {
            if let Some(samples) = samples.first_chunk() {
                self.frame(samples, features, scratch);
            }
        }
    }

    /// The features of a frame.
    pub(crate) fn frame(&self, samples: &[f32; WINDOW], features: &mut [f32; FEATURES], scratch: &mut Scratch) {
        self.bands(samples, scratch);
        let logarithms = &mut scratch.bands[1..=BANDS];
        for x in logarithms.iter_mut() {
            *x = libm::logf(if *x < FLOOR { FLOOR } else { *x }); // and NaN stays NaN
        }
        for (i, feature) in features.iter_mut().enumerate() {
            // i (2j + 1) modulo a whole turn
            let angles = (0..BANDS).map(|j| i * (2 * j + 1) % (4 * BANDS));
            *feature = logarithms.iter().zip(angles).map(|(x, angle)| x * self.cosines[angle]).sum();
        }
    }

    /// The sums of a frame's magnitudes in the bands.
    pub(crate) fn bands<'s>(&self, samples: &[f32; WINDOW], scratch: &'s mut Scratch) -> &'s [f32] {
        self.magnitudes(samples, scratch);
        scratch.bands.fill(0.0);
        for (bin, magnitude) in self.bins.iter().zip(&scratch.magnitudes[FIRST..]) {
            if let Some([falling, rising]) =
                scratch.bands.get_mut(bin.falling.into()..).and_then(<[f32]>::first_chunk_mut)
            {
                *falling += (1.0 - bin.rising) * magnitude;
                *rising += bin.rising * magnitude;
            }
        }
        &scratch.bands[1..=BANDS]
    }

    /// The magnitudes of a frame's frequencies: those of k · 31.25 Hz.
    pub(crate) fn magnitudes<'s>(&self, samples: &[f32; WINDOW], scratch: &'s mut Scratch) -> &'s [f32; FREQUENCIES] {
        scratch.spectrum[WINDOW..].fill(0.0);
        for ((x, sample), weight) in scratch.spectrum.iter_mut().zip(samples).zip(&self.window) {
            *x = sample * weight;
        }
        let spectrum = rfft_512(&mut scratch.spectrum);
        for (magnitude, z) in scratch.magnitudes.iter_mut().zip(spectrum.iter()) {
            *magnitude = sqrt(z.re * z.re + z.im * z.im);
        }
        // The first and the last are real, and both are in the first.
        scratch.magnitudes[0] = spectrum[0].re.abs();
        scratch.magnitudes[FREQUENCIES - 1] = spectrum[0].im.abs();
        &scratch.magnitudes
    }
}
