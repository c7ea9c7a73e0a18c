"""Train the encoder-decoder of the translate_numbers example with PyTorch.

It translates the numbers 0 to 9999 from English words into German ones, letter by
letter: "seven hundred and twenty-one" becomes "siebenhunderteinundzwanzig". Both
languages are written by rule, so there is no data but the rules. Every fifth number
or so, by `held_out`, is used for nothing but the last figure.

Writes, relative to this folder:

* ../../examples/translate_numbers/translator.safetensors: the trained float32 parameters;
* ../golden/numbers_logits.safetensors: token ids and logits of some held-out numbers,
  computed in float64 from the float32 parameters.

Run: python translate_numbers.py

The schedule is fixed. Seeds are fixed and one thread is used. Versions: see requirements.txt.
"""

import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "translate_numbers"
GOLDEN = HERE.parent / "golden"

SEED = 0
D, LAYERS, HEADS, D_FF, EPS = 32, 2, 4, 64, 1e-6
STEPS, BATCH, PEAK_RATE, WARM_UP = 5000, 128, 3e-3, 0.05
# "<" begins and ">" ends a target.
ALPHABET = "<> -abcdefghilnorstuvwxyzßöü"

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
EINER = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
ZEHNER = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + ("-" + ONES[n % 10] if n % 10 else "")
    if n < 1000:
        return ONES[n // 100] + " hundred" + (" and " + english(n % 100) if n % 100 else "")
    rest = n % 1000
    join = " and " if rest < 100 else " "
    return ONES[n // 1000] + " thousand" + (join + english(rest) if rest else "")


def german(n, last=True):
    """An "eins" has its s only at the end."""
    if n < 20:
        return EINER[n] + ("s" if n == 1 and last else "")
    if n < 100:
        return (EINER[n % 10] + "und" if n % 10 else "") + ZEHNER[n // 10 - 2]
    if n < 1000:
        return EINER[n // 100] + "hundert" + (german(n % 100) if n % 100 else "")
    return EINER[n // 1000] + "tausend" + (german(n % 1000) if n % 1000 else "")


def held_out(n):
    return n * 2654435761 % 2**32 % 5 == 0


def ids(text):
    return [ALPHABET.index(c) for c in text]


class Translator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(len(ALPHABET), D)
        torch.nn.init.normal_(self.embedding.weight, std=D**-0.5)
        self.transformer = torch.nn.Transformer(
            D, HEADS, LAYERS, LAYERS, D_FF, 0.0, "relu", layer_norm_eps=EPS, batch_first=True
        )
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        position = torch.arange(64)[:, None]
        angle = position / 10000 ** (torch.arange(0, D, 2) / D)
        table = torch.stack([angle.double().sin(), angle.double().cos()], -1).flatten(1)
        self.register_buffer("table", table.float(), persistent=False)

    def embed(self, x):
        return self.embedding(x) * math.sqrt(D) + self.table[: x.shape[1]]

    def encode(self, source):
        padding = source < 0
        return self.transformer.encoder(self.embed(source.clamp(min=0)), src_key_padding_mask=padding), padding

    def decode(self, memory, padding, target):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=self.table.dtype)
        y = self.transformer.decoder(
            self.embed(target.clamp(min=0)), memory, tgt_mask=mask, memory_key_padding_mask=padding, tgt_is_causal=True
        )
        return y @ self.embedding.weight.T

    def forward(self, source, target):
        return self.decode(*self.encode(source), target)


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([row + [-1] * (width - len(row)) for row in rows])


def batch(numbers):
    source = padded([ids(english(n)) for n in numbers])
    target = padded([ids("<" + german(n) + ">") for n in numbers])
    return source, target


def translate(model, numbers):
    memory, padding = model.encode(padded([ids(english(n)) for n in numbers]))
    target = torch.zeros(len(numbers), 1, dtype=torch.long)
    for _ in range(48):
        target = torch.cat([target, model.decode(memory, padding, target)[:, -1:].argmax(-1)], 1)
    texts = ["".join(ALPHABET[i] for i in row[1:]) for row in target.tolist()]
    return [text.split(">")[0] for text in texts]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.backends.mha.set_fastpath_enabled(False)
    rng = np.random.default_rng(SEED)
    train = [n for n in range(10000) if not held_out(n)]
    test = [n for n in range(10000) if held_out(n)]
    # Short numbers are few, so they come more often.
    weights = np.array([max(1.0, 200 / (n + 1)) for n in train])
    weights /= weights.sum()
    model = Translator()
    optimizer = torch.optim.AdamW(model.parameters(), PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    average = {k: v.clone() for k, v in model.state_dict().items()}
    start = time.time()
    for step in range(STEPS):
        progress = step / STEPS
        rate = min(progress / WARM_UP, 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP))) + 0.01)
        for group in optimizer.param_groups:
            group["lr"] = PEAK_RATE * rate
        source, target = batch(rng.choice(train, BATCH, p=weights))
        logits = model(source, target[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        decay = min(0.99, step / (step + 10))
        with torch.no_grad():
            for k, v in model.state_dict().items():
                average[k].lerp_(v, 1 - decay)
        if step % 250 == 249:
            print(f"step {step + 1}: loss {loss.item():.4f}, {time.time() - start:.0f} s", flush=True)
    model.load_state_dict(average)
    model.eval()
    with torch.no_grad():
        right = 0
        for first in range(0, len(test), 250):
            part = test[first : first + 250]
            right += sum(t == german(n) for t, n in zip(translate(model, part), part))
        print(f"held out: {right} of {len(test)} right")
        tensors = {k: v.clone().contiguous() for k, v in model.state_dict().items()}
        model.double()
        model.table = torch.stack(
            [f(torch.arange(64).double()[:, None] / 10000 ** (torch.arange(0, D, 2).double() / D)) for f in (torch.sin, torch.cos)], -1
        ).flatten(1)
        golden = {}
        for k, n in enumerate([0, *rng.choice(test, 7)]):
            source, target = batch([n])
            golden |= {f"source.{k}": source[0], f"target.{k}": target[0, :-1]}
            golden[f"logits.{k}"] = model(source, target[:, :-1])[0]
    about = {"alphabet": ALPHABET, "right": right, "held_out": len(test), "torch": torch.__version__.split("+")[0]}
    metadata = {"reference": json.dumps({"script": "translate_numbers.py", **about})}
    save_file({k: v.float().contiguous() for k, v in golden.items()}, GOLDEN / "numbers_logits.safetensors", metadata)
    save_file(tensors, EXAMPLE / "translator.safetensors", metadata)


if __name__ == "__main__":
    main()
