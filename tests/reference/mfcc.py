"""Make the golden data of the MFCC front end of examples/keyword_spotting.

Writes ../golden/mfcc_clip.wav, a second of 16-bit samples (a sweep, a chord,
noise, silence and a click), and ../golden/mfcc.safetensors:

* mfcc: its features, [98, 40];
* bands: the magnitudes in the 80 mel bands, [98, 80], before the logarithm.

Windows, magnitudes and mel filters are those of transformers.audio_utils with
Kaldi's mel scale, the transform is scipy's DCT-II without its scaling; all in
float64.

Run: python mfcc.py
"""

import json
import wave

import numpy as np
import scipy
import transformers
from safetensors.numpy import save_file
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

from sampling import GOLDEN

RATE, MELS, FEATURES = 16000, 80, 40


def clip():
    t = np.arange(RATE) / RATE
    x = np.zeros(RATE)
    sweep = t < 0.4
    x[sweep] += 0.5 * np.sin(2 * np.pi * (50 * t + 19000 / 2 * t**2 / 1)[sweep])  # 50 to 7,650 Hz
    chord = (t >= 0.4) & (t < 0.6)
    for f in (220.0, 277.2, 329.6, 5000.0):
        x[chord] += 0.2 * np.sin(2 * np.pi * f * t[chord])
    noise = (t >= 0.6) & (t < 0.8)
    random = np.random.default_rng(7)
    x[noise] += random.uniform(-1, 1, noise.sum())
    # Some noise with the tones, as all recordings have: without, most bands are 120 dB
    # lower than the loudest, which is float32's last digits.
    x[t < 0.6] += random.uniform(-2e-3, 2e-3, (t < 0.6).sum())
    x[int(0.95 * RATE)] = -1  # and silence on both sides of it
    return np.clip(np.rint(x * 32768), -32768, 32767).astype("<i2")


def main():
    samples = clip()
    with wave.open(str(GOLDEN / "mfcc_clip.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())

    filters = mel_filter_bank(257, MELS, 20.0, 7600.0, RATE, mel_scale="kaldi", triangularize_in_mel_space=True)
    window = window_function(480, "hann", periodic=True)
    bands = spectrogram(
        samples / 32768.0, window, 480, 160, 512, power=1.0, center=False, mel_filters=filters, mel_floor=0.0,
        dtype=np.float64,
    ).T
    transformed = scipy.fft.dct(np.log(np.maximum(bands, 1e-12)), type=2, norm=None)[:, :FEATURES]
    mfcc = transformed / 2 * np.sqrt(2 / MELS)  # scipy has a factor of 2
    assert bands.shape == (98, MELS) and mfcc.dtype == bands.dtype == np.float64
    about = {"versions": {"numpy": np.__version__, "scipy": scipy.__version__, "transformers": transformers.__version__}}
    path = GOLDEN / "mfcc.safetensors"
    tensors = {"mfcc": np.ascontiguousarray(mfcc, np.float32), "bands": np.ascontiguousarray(bands, np.float32)}
    save_file(tensors, path, {"reference": json.dumps(about)})
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
