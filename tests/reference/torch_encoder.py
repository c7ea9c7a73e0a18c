"""Make the golden data of the transformer encoder and its functions from PyTorch.

Writes, next to this folder:

* ../golden/torch_encoder.safetensors: parameters, inputs and expected outputs
  of torch.nn.TransformerEncoderLayer stacks, one name prefix per case;
* ../golden/torch_functions.safetensors: activations, normalisations, softmax
  and the sinusoidal positions.

Run: python torch_encoder.py

Every parameter and input is first rounded to float32; the expected outputs are
computed in float64 from those rounded values and then stored as float32.
Versions: see requirements.txt. Seeds are fixed and one thread is used.
"""

import json
import math
import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

GOLDEN = Path(__file__).resolve().parent.parent / "golden"

# Fields that every case has; a case names only what it changes.
DEFAULTS = dict(
    layers=1, d_model=21, d_ff=35, heads=3, norm_first=False, activation="relu",
    eps=1e-5, bias=True, final_norm=False, mask="none", input="normal",
)
CASES = {
    "post_relu": dict(lengths=[1, 11, 13]),
    "pre_gelu": dict(
        layers=2, norm_first=True, activation="gelu", final_norm=True, lengths=[1, 11, 13]
    ),
    "post_gelu": dict(layers=3, heads=7, activation="gelu", lengths=[2, 13]),
    "pre_relu": dict(d_model=13, d_ff=29, heads=13, norm_first=True, lengths=[5, 7]),
    "causal": dict(
        layers=2, norm_first=True, activation="gelu", final_norm=True, mask="causal",
        lengths=[1, 11],
    ),
    "padded": dict(layers=2, activation="gelu", mask="padding", lengths=[3, 8, 13]),
    "extreme_large": dict(input="large", lengths=[7]),
    "extreme_small": dict(input="small", lengths=[7]),
    "extreme_mixed": dict(norm_first=True, activation="gelu", input="mixed", lengths=[7]),
    "no_bias": dict(
        layers=2, d_model=13, d_ff=29, heads=1, norm_first=True, activation="gelu",
        bias=False, lengths=[6],
    ),
}


def generator(name):
    """A generator seeded from the name, so that cases do not depend on each other."""
    return torch.Generator().manual_seed(zlib.crc32(name.encode()))


def normal(gen, *shape):
    """Standard normal float32 values."""
    return torch.randn(*shape, generator=gen, dtype=torch.float32)


def randomise(module, gen):
    """Set every parameter, those that PyTorch starts at zero or one too."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            noise = normal(gen, *p.shape)
            if name.endswith("bias"):
                p.copy_(0.1 * noise)
            elif p.dim() == 1:  # the gain of a normalisation
                p.copy_(1 + 0.1 * noise)
            else:
                p.copy_(noise / math.sqrt(p.shape[1]))


def make_input(kind, gen, length, d_model):
    """One [length, d_model] float32 input."""
    x = normal(gen, length, d_model)
    if kind == "large":
        return x * 1e4
    if kind == "small":
        return x * 1e-6
    if kind == "mixed":  # one feature of each token is far larger than the others
        feature = torch.randint(d_model, (length,), generator=gen)
        x[torch.arange(length), feature] = 1e4
    return x


def encoder_case(name, changes):
    """The tensors and the hyperparameters of one case."""
    case = {**DEFAULTS, **changes}
    gen = generator(name)
    d_model = case["d_model"]
    layer = torch.nn.TransformerEncoderLayer(
        d_model, case["heads"], case["d_ff"], dropout=0.0, activation=case["activation"],
        layer_norm_eps=case["eps"], batch_first=True, norm_first=case["norm_first"],
        bias=case["bias"],
    )
    norm = torch.nn.LayerNorm(d_model, case["eps"]) if case["final_norm"] else None
    model = torch.nn.TransformerEncoder(layer, case["layers"], norm, enable_nested_tensor=False)
    model.eval()
    randomise(model, gen)
    tensors = {k: v.clone() for k, v in model.state_dict().items()}
    model.double()

    inputs = [make_input(case["input"], gen, n, d_model) for n in case["lengths"]]
    if case["mask"] == "padding":
        longest = max(case["lengths"])
        batch = torch.full((len(inputs), longest, d_model), 1e3, dtype=torch.float64)
        padding = torch.ones(len(inputs), longest, dtype=torch.bool)
        for i, x in enumerate(inputs):
            batch[i, : len(x)] = x.double()
            padding[i, : len(x)] = False
        out = model(batch, src_key_padding_mask=padding)
        outputs = [out[i, : len(x)] for i, x in enumerate(inputs)]
    else:
        outputs = []
        for x in inputs:
            mask = None
            if case["mask"] == "causal":
                mask = torch.nn.Transformer.generate_square_subsequent_mask(
                    len(x), dtype=torch.float64
                )
            outputs.append(model(x.double()[None], mask=mask)[0])

    for k, (x, y) in enumerate(zip(inputs, outputs)):
        assert y.isfinite().all(), name
        tensors[f"input.{k}"] = x
        tensors[f"output.{k}"] = y
    return {f"{name}.{k}": v for k, v in tensors.items()}, case


def sinusoidal(rows, d_model):
    """Positions of Vaswani et al. 2017: sines in even columns, cosines in odd ones."""
    pos = np.asarray(rows, dtype=np.float64)[:, None]
    column = np.arange(d_model)
    angle = pos / 10000.0 ** (2 * (column // 2) / d_model)
    return torch.from_numpy(np.where(column % 2 == 0, np.sin(angle), np.cos(angle)))


def gelu_erf(x):
    """F.gelu, written so that the left tail does not cancel."""
    y = 0.5 * x * torch.special.erfc(-x / math.sqrt(2))
    torch.testing.assert_close(y, F.gelu(x), rtol=1e-12, atol=1e-14)
    return y


def gelu_tanh(x):
    """F.gelu(approximate="tanh"), as x * sigmoid(2u) so that the left tail does not cancel."""
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    y = x * torch.sigmoid(2 * u)
    torch.testing.assert_close(y, F.gelu(x, approximate="tanh"), rtol=1e-12, atol=1e-14)
    return y


def functions():
    """The tensors of the functions and a description of each group."""
    gen = generator("functions")
    t, about = {}, {}

    extremes = [0.0, -0.0, 1e-6, 1e4, -1e4, 30.0, -30.0, 88.0, -88.0]
    x = torch.cat([torch.linspace(-12, 12, 401, dtype=torch.float64), torch.tensor(extremes)])
    x = x.float()
    t["activation.x"] = x
    t["activation.relu"] = F.relu(x.double())
    t["activation.gelu_erf"] = gelu_erf(x.double())
    t["activation.gelu_tanh"] = gelu_tanh(x.double())
    t["activation.silu"] = F.silu(x.double())
    about["activation"] = "elementwise functions of activation.x"

    # Rows of ordinary, large, small, offset, nearly constant and constant values.
    d = 13
    rows = normal(gen, 6, d)
    scale = torch.tensor([1.0, 1e4, 1e-6, 1.0, 1e-3, 0.0])[:, None]
    offset = torch.tensor([0.0, 0.0, 0.0, 100.0, 1.0, 0.5])[:, None]
    x = rows * scale + offset
    weight, bias = 1 + 0.1 * normal(gen, d), 0.1 * normal(gen, d)
    t["norm.x"], t["norm.weight"], t["norm.bias"] = x, weight, bias
    x, weight, bias = x.double(), weight.double(), bias.double()
    for eps in ("1e-5", "1e-12"):
        e = float(eps)
        t[f"layer_norm.plain.{eps}"] = F.layer_norm(x, (d,), eps=e)
        t[f"layer_norm.weight.{eps}"] = F.layer_norm(x, (d,), weight, eps=e)
        t[f"layer_norm.affine.{eps}"] = F.layer_norm(x, (d,), weight, bias, eps=e)
    t["rms_norm.weight.1e-6"] = F.rms_norm(x, (d,), weight, eps=1e-6)
    about["norm"] = "rows norm.x under layer_norm.KIND.EPS and rms_norm.weight.EPS"

    for n in (1, 7, 17, 64):
        x = torch.stack(
            [normal(gen, n), 1e4 * normal(gen, n), 1e4 + normal(gen, n), -1e4 + normal(gen, n),
             torch.full((n,), 2.5), 20 * normal(gen, n)]
        )
        t[f"softmax.x.{n}"] = x
        t[f"softmax.y.{n}"] = torch.softmax(x.double(), dim=1)
    about["softmax"] = "softmax.y.LEN is the softmax of each row of softmax.x.LEN"

    sampled = [0, 1, 2, 4096, 4999]
    t["sinusoidal.32"] = sinusoidal(range(64), 32)
    t["sinusoidal.7"] = sinusoidal(range(11), 7)
    t["sinusoidal.512"] = sinusoidal(sampled, 512)
    about["sinusoidal"] = f"sinusoidal.D: positions 0.. ; for D = 512 only rows {sampled}"
    return t, about


def save(tensors, about, name):
    """Write all tensors as float32 and what they are as the JSON of one metadata entry.

    One entry, since the order of several would differ from run to run.
    """
    versions = {"torch": torch.__version__.split("+")[0], "numpy": np.__version__}
    metadata = {"reference": json.dumps({"versions": versions, **about})}
    tensors = {k: v.detach().to(torch.float32).contiguous() for k, v in tensors.items()}
    path = GOLDEN / name
    save_file(tensors, path, metadata)
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    GOLDEN.mkdir(exist_ok=True)
    # The fused inference path computes the same thing; the plain one is the reference.
    torch.backends.mha.set_fastpath_enabled(False)

    tensors, cases = {}, {}
    with torch.no_grad():
        for name, changes in CASES.items():
            more, cases[name] = encoder_case(name, changes)
            tensors.update(more)
        save(tensors, {"cases": cases}, "torch_encoder.safetensors")
        tensors, about = functions()
        save(tensors, {"functions": about}, "torch_functions.safetensors")


if __name__ == "__main__":
    main()
