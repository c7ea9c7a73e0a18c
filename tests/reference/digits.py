"""The images of the digits example, and what its model is to say of them.

Writes, relative to this folder:

* ../../examples/digits/training_images.bin, ../../examples/digits/test_images.bin:
  65 bytes an image: its 64 pixels (0..16, row-major), then its label;
* ../golden/digits_logits.safetensors: logits and predictions of the test
  images, computed in float64 from the float32 parameters that are in
  ../../examples/digits/digits.safetensors.

The parameters are those that `cargo run --release --example train_digits --
--write` has found; nothing is trained here.

Run: python digits.py
Versions: see requirements.txt.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "digits"
GOLDEN = HERE.parent / "golden"

D, LAYERS, HEADS, EPS = 32, 2, 4, 1e-6


def forward(p, images):
    """Logits [batch, 10] of images [batch, 8, 8] with pixels in 0..1."""

    def linear(name, x):
        return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])

    def norm(name, x):
        return F.layer_norm(x, (D,), p[f"{name}.weight"], p[f"{name}.bias"], EPS)

    n = len(images)
    patches = images.reshape(n, 4, 2, 4, 2).transpose(2, 3).reshape(n, 16, 4)
    x = linear("embedding.projection", patches)
    x = torch.cat([p["embedding.class_token"].expand(n, 1, D), x], dim=1) + p["embedding.positions.weight"]
    for layer in range(LAYERS):
        block = f"encoder.blocks.{layer}"
        y = norm(f"{block}.attention_norm", x)
        q, k, v = (
            linear(f"{block}.attention.{part}", y).reshape(n, 17, HEADS, D // HEADS).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        y = torch.softmax(q @ k.transpose(2, 3) / (D // HEADS) ** 0.5, -1) @ v
        x = x + linear(f"{block}.attention.output", y.transpose(1, 2).reshape(n, 17, D))
        y = norm(f"{block}.feed_forward_norm", x)
        x = x + linear(f"{block}.feed_forward.outer", F.gelu(linear(f"{block}.feed_forward.inner", y)))
    return linear("head", norm("encoder.norm", x)[:, 0])


def write(images, labels, name):
    """Images as bytes."""
    pixels = images.reshape(-1, 64).astype(np.uint8)
    records = np.concatenate([pixels, labels[:, None].astype(np.uint8)], axis=1)
    (EXAMPLE / name).write_bytes(records.tobytes())
    print(f"{name}: {len(labels)} images")


def main():
    data = load_digits()
    images, test_images, labels, test_labels = train_test_split(
        data.images, data.target, test_size=360, stratify=data.target, random_state=0
    )
    write(images, labels, "training_images.bin")
    write(test_images, test_labels, "test_images.bin")
    weights = EXAMPLE / "digits.safetensors"
    parameters = {name: tensor.double() for name, tensor in load_file(weights).items()}
    logits = forward(parameters, torch.from_numpy(test_images / 16).float().double())
    predictions = logits.argmax(1)
    accuracy = (predictions == torch.from_numpy(test_labels)).double().mean().item()
    best = logits.topk(2).values
    print(f"accuracy {accuracy:.4f} on {len(logits)}, margin {(best[:, 0] - best[:, 1]).min():.4f}")
    about = {
        "versions": {
            "torch": torch.__version__.split("+")[0],
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "parameters": sum(tensor.numel() for tensor in parameters.values()),
        "test_images": len(logits),
        "test_accuracy": round(accuracy, 6),
    }
    golden = {"logits": logits.float().contiguous(), "predictions": predictions.to(torch.uint8)}
    save_file(golden, GOLDEN / "digits_logits.safetensors", {"reference": json.dumps(about)})


if __name__ == "__main__":
    main()
