//! `examples/keyword_spotting`: its front end against transformers and scipy, its labels of real clips, and files that are none.

#[path = "../examples/keyword_spotting/clip.rs"]
mod clip;
mod common;
#[path = "../examples/keyword_spotting/mfcc.rs"]
mod mfcc;
#[path = "../examples/keyword_spotting/model.rs"]
mod model;
#[path = "../examples/keyword_spotting/spotter.rs"]
mod spotter;

use clip::ClipError;
use common::{golden::Golden, random::Random};
use hound::{SampleFormat, WavSpec, WavWriter};
use mfcc::{BANDS, FEATURES, FRAMES, FREQUENCIES, HOP, Mfcc, SAMPLES, Scratch, WINDOW};
use model::{Kws, LABELS};
use spotter::Spotter;
use std::{f64::consts::PI, io::Cursor, path::Path};

const MONO: WavSpec =
    WavSpec { channels: 1, sample_rate: 16_000, bits_per_sample: 16, sample_format: SampleFormat::Int };

/// A wav file of these samples.
fn wav(spec: WavSpec, samples: impl IntoIterator<Item = i16>) -> Vec<u8> {
    let mut file = Cursor::new(vec![]);
    let mut writer = WavWriter::new(&mut file, spec).unwrap();
    for sample in samples {
        if spec.sample_format == SampleFormat::Float {
            writer.write_sample(f32::from(sample)).unwrap();
        } else {
            writer.write_sample(sample).unwrap();
        }
    }
    writer.finalize().unwrap();
    file.into_inner()
}

fn open(path: &str) -> Vec<f32> {
    clip::read(std::fs::File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()).unwrap()
}

fn features(clip: &[f32]) -> Box<[[f32; FEATURES]; FRAMES]> {
    let (mut frames, mut scratch) = (Box::new([[0.0; FEATURES]; FRAMES]), Scratch::ZERO);
    Mfcc::new().frames(clip.first_chunk().unwrap(), &mut frames, &mut scratch);
    frames
}

fn distance<'a>(a: impl IntoIterator<Item = &'a f32>, b: impl IntoIterator<Item = &'a f32>) -> f32 {
    let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
    assert!(a.len() == b.len() && a.iter().chain(&b).all(|x| x.is_finite()));
    a.into_iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn noise(seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..SAMPLES).map(|_| random.number()).collect()
}

#[test]
fn features_and_labels_of_real_clips() {
    let Some(mut golden) = Golden::model("kwt1/kwt1_golden.safetensors") else { return };
    let models = std::env::var("CONSTFORMER_MODELS").unwrap();
    let mut spotter = Spotter::open(&Path::new(&models).join("kwt1/kwt1.safetensors")).unwrap();
    for word in ["yes", "no"] {
        let clip = open(&format!("{models}/kwt1/wav/{word}_1000ms.wav"));
        let error = distance(features(&clip).as_flattened(), &golden.take(&format!("{word}.mfcc")).to_f32());
        let [(0, second)] = clip::seconds(&clip).collect::<Vec<_>>()[..] else { panic!("one second") };
        let heard = spotter.hear(second).unwrap();

        let logits = golden.take(&format!("{word}.logits_f64ref")).numbers;
        let sum: f64 = logits.iter().map(|x| x.exp()).sum();
        let best = (0..12).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        println!("{word}: features within {error:.1e}, {heard:?}");
        assert!(error < 1e-3 && heard.label == word && LABELS[best] == word);
        assert!((f64::from(heard.probability) - logits[best].exp() / sum).abs() < 1e-3);
        assert!(!heard.front_end.is_zero() && !heard.model.is_zero());
    }
    let labels = std::fs::read_to_string(format!("{models}/kwt1/labels.txt")).unwrap();
    assert!(labels.split_whitespace().eq(LABELS));
}

#[test]
fn features_as_transformers_and_scipy_have_them() {
    let mut golden = Golden::open("mfcc.safetensors");
    let clip = open("tests/golden/mfcc_clip.wav");
    let error = distance(features(&clip).as_flattened(), &golden.take("mfcc").to_f32());

    let (mfcc, mut scratch, bands) = (Mfcc::new(), Scratch::ZERO, golden.take("bands").rows::<BANDS>());
    let mut relative = 0f32;
    for (samples, expected) in clip.windows(WINDOW).step_by(HOP).zip(&bands) {
        let largest = expected.iter().fold(1e-12, |a: f32, b| a.max(*b));
        let found = mfcc.bands(samples.first_chunk().unwrap(), &mut scratch);
        relative = relative.max(distance(found, expected) / largest);
    }
    println!("features within {error:.1e}, bands within {relative:.1e} of the largest");
    assert!(error < 1e-3 && relative < 3e-7 && bands.len() == FRAMES);
}

#[test]
fn parseval() {
    let (mfcc, mut scratch, clip) = (Mfcc::new(), Scratch::ZERO, noise(3));
    let hann = |n: usize| (PI * n as f64 / WINDOW as f64).sin().powi(2);
    for samples in clip.windows(WINDOW).step_by(997) {
        let expected: f64 = samples.iter().enumerate().map(|(n, x)| (f64::from(*x) * hann(n)).powi(2)).sum();
        let magnitudes = mfcc.magnitudes(samples.first_chunk().unwrap(), &mut scratch);
        // All but the first and the last stand for two frequencies.
        let twice = |k| if k == 0 || k == FREQUENCIES - 1 { 1.0 } else { 2.0 };
        let found: f64 = magnitudes.iter().enumerate().map(|(k, m)| twice(k) * f64::from(*m).powi(2)).sum();
        assert!((found / 512.0 / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn the_first_and_the_last_frequency_are_not_mixed_up() {
    let (mfcc, mut scratch) = (Mfcc::new(), Scratch::ZERO);
    let constant = *mfcc.magnitudes(&[1.0; WINDOW], &mut scratch);
    let alternating = std::array::from_fn(|n| if n % 2 == 0 { 1.0 } else { -1.0 });
    let alternating = mfcc.magnitudes(&alternating, &mut scratch);
    assert!((constant[0] - 240.0).abs() < 1e-2 && constant[256] < 1e-2, "the window's sum is 240");
    assert!((alternating[256] - 240.0).abs() < 1e-2 && alternating[0] < 1e-2);
}

#[test]
fn a_pure_tone_lands_in_its_band() {
    let (mfcc, mut scratch) = (Mfcc::new(), Scratch::ZERO);
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    for hertz in [601.0, 997.0, 1_409.0, 2_003.0, 2_999.0, 4_001.0, 5_501.0, 7_001.0] {
        let samples = std::array::from_fn(|n| (2.0 * PI * hertz * n as f64 / 16_000.0).sin() as f32);
        let bands = mfcc.bands(&samples, &mut scratch);
        let loudest = (0..BANDS).max_by(|a, b| bands[*a].total_cmp(&bands[*b])).unwrap();
        let place = (mel(hertz) - mel(20.0)) / (mel(7_600.0) - mel(20.0)) * 81.0 - 1.0;
        println!("{hertz} Hz: band {loudest} of {place:.2}");
        assert!((loudest as f64 - place).abs() < 1.0);
    }
}

#[test]
fn twice_as_loud_is_the_first_feature_larger() {
    let clip = noise(5);
    let half: Vec<_> = clip.iter().map(|x| x / 2.0).collect();
    let (mut loud, half) = (features(&clip), features(&half));
    loud.iter_mut().for_each(|frame| frame[0] -= 160f32.sqrt() * 2f32.ln());
    assert!(distance(loud.as_flattened(), half.as_flattened()) < 1e-3);
}

#[test]
fn odd_samples() {
    let mut silence = [0.0; FEATURES];
    silence[0] = 160f32.sqrt() * 1e-12f32.ln();
    assert!(features(&vec![0.0; SAMPLES]).iter().all(|frame| distance(frame, &silence) < 1e-3));
    // What is too small to count is silence too.
    assert!(features(&vec![f32::from_bits(1); SAMPLES]).iter().all(|frame| distance(frame, &silence) < 1e-3));
    let square: Vec<_> = (0..SAMPLES).map(|n| if n / 40 % 2 == 0 { 1.0 } else { -1.0 }).collect();
    assert!(features(&square).as_flattened().iter().all(|x| x.is_finite()));

    // One that is no number spoils the frames that it is in, and no other.
    let clip = noise(7);
    let good = features(&clip);
    for (bad, place) in [f32::NAN, f32::INFINITY, f32::MAX].into_iter().zip([0, 777, 15_999]) {
        let mut clip = clip.clone();
        clip[place] = bad;
        for (i, (found, good)) in features(&clip).iter().zip(&*good).enumerate() {
            let spoilt = (i * HOP..i * HOP + WINDOW).contains(&place);
            assert_eq!(spoilt, found != good, "{bad} at {place}, frame {i}");
            assert!(!spoilt || bad == f32::MAX || found.iter().all(|x| x.is_nan()), "{bad} at {place}, frame {i}");
        }
    }
}

#[test]
fn clips_shorter_and_longer_than_a_second() {
    let ramp = |n: usize| i16::try_from(n % 997).unwrap();
    let starts = |samples: usize| {
        let clip = clip::read(&*wav(MONO, (0..samples).map(ramp))).unwrap();
        let seconds: Vec<_> = clip::seconds(&clip).collect();
        assert!(seconds.iter().all(|(start, second)| clip[*start..].starts_with(*second)));
        assert!(clip.iter().zip(0..samples).all(|(x, n)| *x == f32::from(ramp(n)) / 32_768.0));
        assert!(clip.iter().skip(samples).all(|x| *x == 0.0));
        seconds.iter().map(|(start, _)| *start).collect::<Vec<_>>()
    };
    assert_eq!(starts(1), [0]);
    assert_eq!(starts(15_999), [0]);
    assert_eq!(starts(16_000), [0]);
    assert_eq!(starts(16_001), [0, 1]);
    assert_eq!(starts(24_000), [0, 8_000]);
    assert_eq!(starts(40_000), [0, 8_000, 16_000, 24_000]);
    assert_eq!(starts(30_000), [0, 7_000, 14_000]);
}

#[test]
fn files_that_are_no_clips() {
    let samples = || (0..100).map(|n| n % 100);
    let error = |file: &[u8]| clip::read(file).unwrap_err();
    for spec in [
        WavSpec { sample_rate: 44_100, ..MONO },
        WavSpec { sample_rate: 8_000, ..MONO },
        WavSpec { channels: 2, ..MONO },
        WavSpec { bits_per_sample: 8, ..MONO },
        WavSpec { bits_per_sample: 24, ..MONO },
        WavSpec { bits_per_sample: 32, ..MONO },
        WavSpec { bits_per_sample: 32, sample_format: SampleFormat::Float, ..MONO },
    ] {
        let error = error(&wav(spec, samples()));
        println!("{error}");
        assert!(matches!(error, ClipError::Format(found) if found == spec));
    }
    let error_of_stereo = error(&wav(WavSpec { channels: 2, sample_rate: 44_100, ..MONO }, samples())).to_string();
    assert_eq!(
        error_of_stereo,
        "1 channel of 16000 Hz in integers of 16 bits expected, found 2 channels of 44100 Hz in integers of 16 bits; \
         `sox in.wav -r 16000 -c 1 -b 16 -e signed out.wav` converts it"
    );
    assert!(matches!(error(&wav(MONO, [])), ClipError::Empty));
    let file = wav(MONO, samples());
    for len in 0..file.len() {
        assert!(matches!(error(&file[..len]), ClipError::Wav(_)), "the first {len} bytes");
    }
    for (at, byte) in (0..44).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
        let mut file = file.clone();
        file[at] = byte;
        assert!(clip::read(&*file).is_ok_and(|clip| clip.len() == SAMPLES) || clip::read(&*file).is_err());
    }
    assert!(matches!(error(b"RIFFnot a wave file at all, but long enough"), ClipError::Wav(_)));
    assert_eq!(clip::read(&*file).unwrap().len(), SAMPLES);
}

#[test]
fn weights_that_are_not_there() {
    assert!(Spotter::open(Path::new("no such file")).err().unwrap().to_string().contains("no such file"));
    let nothing = constformer::load::Checkpoint::from_bytes(b"\x02\0\0\0\0\0\0\0{}").unwrap();
    let error = nothing.load::<model::Kwt1>(&mut *constformer::boxed::<Kws>()).unwrap_err().to_string();
    assert!(error.contains("missing: blocks.11.fc2.bias, for encoder.blocks.11.feed_forward.outer.bias"));
    assert!(!error.contains("unknown"));
}
