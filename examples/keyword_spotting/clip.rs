//! From wav files to seconds of samples.

use crate::mfcc::SAMPLES;
use hound::{SampleFormat, WavReader, WavSpec};
use std::{error::Error, fmt, io::Read};

/// 16,000 samples of 16 bits a second, one channel.
const FORMAT: WavSpec =
    WavSpec { channels: 1, sample_rate: SAMPLES as u32, bits_per_sample: 16, sample_format: SampleFormat::Int };

/// A wav file gives no clip.
#[derive(Debug)]
pub(crate) enum ClipError {
    /// It cannot be read, is no wav file, or is cut off.
    Wav(hound::Error),
    /// It is of another format than the model has learned.
    Format(WavSpec),
    /// It has no samples.
    Empty,
}

/// Reads a wav file, whose samples become numbers from -1 to 1. What is shorter than a second is made one by silence after
/// it, as the clips were with which the model was trained.
pub(crate) fn read(file: impl Read) -> Result<Vec<f32>, ClipError> {
    let reader = WavReader::new(file).map_err(ClipError::Wav)?;
    if reader.spec() != FORMAT {
        return Err(ClipError::Format(reader.spec()));
    }
    let samples: Result<Vec<_>, _> =
        reader.into_samples::<i16>().map(|sample| sample.map(|x| f32::from(x) / 32_768.0)).collect();
    let mut samples = samples.map_err(ClipError::Wav)?;
    if samples.is_empty() {
        return Err(ClipError::Empty);
    }
    samples.resize(samples.len().max(SAMPLES), 0.0);
    Ok(samples)
}

/// Seconds of a clip and where they begin: evenly from its first second to its last, at most half a second from one to the
/// next, so that every word is in one of them.
pub(crate) fn seconds(samples: &[f32]) -> impl Iterator<Item = (usize, &[f32; SAMPLES])> {
    let last = samples.len().saturating_sub(SAMPLES);
    let steps = last.div_ceil(SAMPLES / 2);
    let starts = (0..=steps).map(move |i| i * last / steps.max(1));
    starts.filter_map(|start| Some((start, samples.get(start..)?.first_chunk()?)))
}

impl fmt::Display for ClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wav(error) => write!(f, "no wav file that can be read: {error}"),
            Self::Format(found) => write!(
                f,
                "{} expected, found {}; `sox in.wav -r 16000 -c 1 -b 16 -e signed out.wav` converts it",
                Format(FORMAT),
                Format(*found)
            ),
            Self::Empty => f.write_str("a clip of a second expected, found no samples"),
        }
    }
}

impl Error for ClipError {}

struct Format(WavSpec);

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WavSpec { channels, sample_rate, bits_per_sample, sample_format } = self.0;
        let kind = match sample_format {
            SampleFormat::Int => "integers",
            SampleFormat::Float => "floating-point numbers",
        };
        let s = if channels == 1 { "" } else { "s" };
        write!(f, "{channels} channel{s} of {sample_rate} Hz in {kind} of {bits_per_sample} bits")
    }
}
