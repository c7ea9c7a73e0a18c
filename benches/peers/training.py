"""A step of training, PyTorch against constformer, in turns on one core.

nanoGPT's configuration for processors: 4 layers, 4 heads, width 128, 12 texts of 64 of 65 characters, no dropout, no biases,
AdamW, gradients clipped. Prints medians of the time of the process on the processor, and the ratio.

Run: cargo bench --bench training --no-run
     taskset -c 1 python benches/peers/training.py [rounds]
"""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS, HEADS, D, BLOCK, BATCH, VOCABULARY = 4, 4, 128, 64, 12, 65
SECONDS = 4.0


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = (torch.nn.LayerNorm(D, bias=False) for _ in range(2))
        self.attention = torch.nn.Linear(D, 3 * D, bias=False)
        self.output = torch.nn.Linear(D, D, bias=False)
        self.inner = torch.nn.Linear(D, 4 * D, bias=False)
        self.outer = torch.nn.Linear(4 * D, D, bias=False)

    def forward(self, x):
        n, t, _ = x.shape
        heads = [y.view(n, t, HEADS, D // HEADS).transpose(1, 2) for y in self.attention(self.norm1(x)).split(D, 2)]
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(n, t, D))
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))


class Gpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(VOCABULARY, D)
        self.positions = torch.nn.Embedding(BLOCK, D)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = torch.nn.LayerNorm(D, bias=False)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def theirs(model, optimizer):
    """The median of the times of a step, in milliseconds."""
    times, begin = [], time.process_time()
    text = torch.randint(VOCABULARY, (BATCH, BLOCK + 1))
    while time.process_time() - begin < SECONDS:
        start = time.process_time()
        loss = model(text[:, :-1], text[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times)


def ours(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return float(re.search(r"step_ms (\S+)", out)[1])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Gpt()
    for parameter in model.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.02)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() == 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, 1e-3, (0.9, 0.99), fused=True)
    build = ["cargo", "bench", "--bench", "training", "--no-run"]
    message = subprocess.run(build, check=True, capture_output=True, text=True, cwd=ROOT, env=os.environ).stderr
    binary = ROOT / re.findall(r"\((target/release/deps/training-[0-9a-f]+)\)", message)[-1]
    theirs(model, optimizer)  # warm
    ratios = []
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        a, b = ours([str(binary)]), theirs(model, optimizer)
        ratios.append(a / b)
        print(f"constformer {a:.1f} ms, PyTorch {torch.__version__.split('+')[0]} {b:.1f} ms, ratio {a / b:.2f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
