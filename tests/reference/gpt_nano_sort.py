"""Completes minGPT's sorter: the file at hand lacks `attn.c_attn.bias` in all three blocks.

What is known: qkv of block 0, from which its bias follows; and the input and output of blocks 1 and 2 for 33 tokens, 1,584
numbers each. From these the biases of query and value, 96 numbers a block, are found by Gauss-Newton in f64. The bias of the
keys adds the same to all scores of a query, so softmax drops it: it cannot be known, does not matter, and is 0 in blocks 1 and 2.

    python tests/reference/gpt_nano_sort.py FOLDER_WITH_THE_TWO_FILES
"""

import math
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

HEADS, WIDTH, BLOCKS = 3, 48, 3


def block(weights, i, bias, x):
    """A Pre-LN block of minGPT in f64; `bias` is that of query, key and value."""
    w = {name.split(f".h.{i}.")[1]: tensor for name, tensor in weights.items() if f".h.{i}." in name}
    norm = lambda x, name: torch.nn.functional.layer_norm(x, [WIDTH], w[name + ".weight"], w[name + ".bias"])
    qkv = norm(x, "ln_1") @ w["attn.c_attn.weight"].T + bias
    q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in qkv.split(WIDTH, -1))
    scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH / HEADS)
    scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    y = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
    x = x + y @ w["attn.c_proj.weight"].T + w["attn.c_proj.bias"]
    hidden = norm(x, "ln_2") @ w["mlp.c_fc.weight"].T + w["mlp.c_fc.bias"]
    hidden = 0.5 * hidden * (1 + torch.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))
    return x + hidden @ w["mlp.c_proj.weight"].T + w["mlp.c_proj.bias"]


def main(folder):
    weights = {k: v.double() for k, v in load_file(folder / "gpt_nano_sort.safetensors").items()}
    golden = {k: v.double() for k, v in load_file(folder / "gpt_nano_sort_golden.safetensors").items()}
    found = {}

    bias = golden["qkv"] - golden["ln1"] @ weights["transformer.h.0.attn.c_attn.weight"].T
    print("block 0: bias the same for all tokens within", bias.flatten(0, 1).std(0).max().item())
    found["transformer.h.0.attn.c_attn.bias"] = bias.flatten(0, 1).mean(0)
    error = block(weights, 0, found["transformer.h.0.attn.c_attn.bias"], golden["x"]) - golden["block0"]
    print("block 0: output within", error.abs().max().item())

    for i in range(1, BLOCKS):
        x, y = golden[f"block{i - 1}"], golden[f"block{i}"]
        full = lambda free: torch.cat([free[:WIDTH], torch.zeros(WIDTH), free[WIDTH:]])
        error = lambda free: (block(weights, i, full(free), x) - y).flatten()
        free = torch.zeros(2 * WIDTH)
        for _ in range(50):
            jacobian = torch.autograd.functional.jacobian(error, free)
            # A little damping at first: the start is far away.
            damping = 1e-3 * error(free).square().mean() * torch.eye(2 * WIDTH)
            free = free - torch.linalg.solve(jacobian.T @ jacobian + damping, jacobian.T @ error(free))
        print(f"block {i}: output within", error(free).abs().max().item())
        found[f"transformer.h.{i}.attn.c_attn.bias"] = full(free)

    path = Path(__file__).parent.parent / "golden" / "gpt_nano_sort_biases.safetensors"
    reference = "gpt_nano_sort.py: biases that follow from the golden activations of minGPT's sorter (MIT)"
    save_file({k: v.float().contiguous() for k, v in found.items()}, path, {"reference": reference})


torch.set_default_dtype(torch.float64)
main(Path(sys.argv[1]))
