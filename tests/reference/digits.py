"""Train the tiny vision transformer of the digits example with PyTorch.

Writes, relative to this folder:

* ../../examples/digits/digits.safetensors: the trained float32 parameters;
* ../../examples/digits/test_images.bin: 65 bytes a test image: its 64 pixels
  (0..16, row-major), then its label;
* ../golden/digits_logits.safetensors: logits and predictions of the test
  images, computed in float64 from the float32 parameters.

Run: python digits.py              train on all training images, test once, write
     python digits.py --validate   train on a part of the training images, print
                                   the accuracy on the rest, write nothing

The schedule is fixed; the test images are used for nothing but the last figure.
Seeds are fixed and one thread is used. Versions: see requirements.txt.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "digits"
GOLDEN = HERE.parent / "golden"

SEED = 0
D, LAYERS, HEADS, D_FF, EPS = 32, 2, 4, 96, 1e-6
EPOCHS, BATCH, PEAK_RATE, WARM_UP = 150, 64, 3e-3, 0.05
WEIGHT_DECAY, DROPOUT, SMOOTHING, EMA = 0.05, 0.0, 0.05, 0.995
NOISE, SHIFTED = 0.05, 0.5  # pixel noise (of 1.0), share of images shifted


class Digits(torch.nn.Module):
    """8x8 image -> 16 patches of 2x2 and a class token -> encoder -> 10 logits."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Linear(4, D)
        self.class_token = torch.nn.Parameter(0.02 * torch.randn(D))
        self.positions = torch.nn.Parameter(0.02 * torch.randn(17, D))
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(
                D, HEADS, D_FF, DROPOUT, "gelu", EPS, batch_first=True, norm_first=True
            )
            for _ in range(LAYERS)
        )
        self.norm = torch.nn.LayerNorm(D, EPS)
        self.head = torch.nn.Linear(D, 10)

    def forward(self, images):
        """Logits [batch, 10] of images [batch, 8, 8] with pixels in 0..1."""
        n = len(images)
        patches = images.reshape(n, 4, 2, 4, 2).transpose(2, 3).reshape(n, 16, 4)
        x = torch.cat([self.class_token.expand(n, 1, D), self.embedding(patches)], dim=1)
        x = x + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))


def augment(images):
    """Shift some images by up to one pixel each way and add a little noise."""
    n = len(images)
    shift = torch.randint(0, 3, (2, n, 1))
    shift[:, torch.rand(n) >= SHIFTED] = 1  # 1 is the middle: no shift
    index = torch.arange(8)
    rows, columns = (index + shift[0])[:, :, None], (index + shift[1])[:, None, :]
    padded = F.pad(images, (1, 1, 1, 1))
    moved = padded[torch.arange(n)[:, None, None], rows, columns]
    return moved + NOISE * torch.randn_like(moved)


def rate(step, steps):
    """Linear warm-up, then a cosine down to zero, as a share of the peak rate."""
    warm = max(1, int(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))


def train(images, labels):
    """Train from scratch; the model returned has the averaged parameters."""
    torch.manual_seed(SEED)
    model = Digits()
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(EMA)
    )
    optimiser = torch.optim.AdamW(model.parameters(), PEAK_RATE, weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: rate(step, steps))
    model.train()
    for _ in range(EPOCHS):
        order = torch.randperm(len(images))
        for i in range(0, len(images) - BATCH + 1, BATCH):
            batch = order[i : i + BATCH]
            logits = model(augment(images[batch]))
            loss = F.cross_entropy(logits, labels[batch], label_smoothing=SMOOTHING)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            average.update_parameters(model)
    return average.module.eval()


@torch.no_grad()
def evaluate(model, images, labels):
    """Logits in float64 from the float32 parameters, and the accuracy."""
    reference = Digits().eval()
    reference.load_state_dict(model.state_dict())
    logits = reference.double()(images.double())
    return logits, (logits.argmax(1) == labels).double().mean().item()


def scaled(images):
    """Pixels 0..16 as float32 0..1."""
    return torch.from_numpy(images / 16).float()


def save(tensors, about, path):
    """Write tensors and, as one metadata entry, the JSON of what they are."""
    tensors = {k: v.contiguous() for k, v in tensors.items()}
    save_file(tensors, path, {"reference": json.dumps(about)})
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.backends.mha.set_fastpath_enabled(False)
    data = load_digits()
    images, test_images, labels, test_labels = train_test_split(
        data.images, data.target, test_size=360, stratify=data.target, random_state=0
    )
    validate = "--validate" in sys.argv[1:]
    if validate:
        images, test_images, labels, test_labels = train_test_split(
            images, labels, test_size=287, stratify=labels, random_state=1
        )
    start = time.perf_counter()
    model = train(scaled(images), torch.from_numpy(labels))
    seconds = time.perf_counter() - start
    logits, accuracy = evaluate(model, scaled(test_images), torch.from_numpy(test_labels))
    best = logits.topk(2).values
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, {len(images)} training images, {seconds:.0f} s")
    print(f"accuracy {accuracy:.4f} on {len(logits)}, margin {(best[:, 0] - best[:, 1]).min():.4f}")
    if validate:
        return

    EXAMPLE.mkdir(parents=True, exist_ok=True)
    GOLDEN.mkdir(exist_ok=True)
    about = {
        "seed": SEED,
        "versions": {
            "torch": torch.__version__.split("+")[0],
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "d_model": D, "layers": LAYERS, "heads": HEADS, "d_ff": D_FF, "eps": EPS,
        "parameters": parameters,
        "test_images": len(logits),
        "test_accuracy": round(accuracy, 6),
    }
    save(model.state_dict(), about, EXAMPLE / "digits.safetensors")
    golden = {"logits": logits.float(), "predictions": logits.argmax(1).to(torch.uint8)}
    save(golden, about, GOLDEN / "digits_logits.safetensors")
    pixels = test_images.reshape(-1, 64).astype(np.uint8)
    records = np.concatenate([pixels, test_labels[:, None].astype(np.uint8)], axis=1)
    (EXAMPLE / "test_images.bin").write_bytes(records.tobytes())


if __name__ == "__main__":
    main()
