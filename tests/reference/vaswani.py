"""Make the golden data of the original encoder-decoder from PyTorch.

Writes, next to this folder, ../golden/vaswani.safetensors: parameters, token ids
and expected logits of an nn.Embedding, scaled by the root of the width, sinusoidal
positions by their formula, an nn.Transformer whose stacks have no final norm, and
the embedding's table as the head.

Run: python vaswani.py

As torch_transformer.py in all else.
"""

import math
import warnings

import torch

from torch_encoder import generator, randomise, save

D_MODEL, D_FF, HEADS, LAYERS, VOCABULARY, EPS = 22, 35, 2, 2, 29, 1e-6
LENGTHS = [(1, 1), (13, 1), (1, 7), (7, 11), (11, 5), (17, 17)]


class Vaswani(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, D_MODEL)
        self.transformer = torch.nn.Transformer(
            D_MODEL, HEADS, LAYERS, LAYERS, D_FF, dropout=0.0, activation="relu",
            layer_norm_eps=EPS, batch_first=True,
        )
        self.transformer.encoder.norm = self.transformer.decoder.norm = None

    def embed(self, ids):
        x = self.embedding(ids) * math.sqrt(D_MODEL)
        for p in range(len(ids)):
            for i in range(0, D_MODEL, 2):
                angle = p / 10000 ** (i / D_MODEL)
                x[p, i] += math.sin(angle)
                x[p, i + 1] += math.cos(angle)
        return x[None]

    def forward(self, source, target):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(len(target), dtype=torch.float64)
        y = self.transformer(self.embed(source), self.embed(target), tgt_mask=mask)
        return (y @ self.embedding.weight.T)[0]


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.backends.mha.set_fastpath_enabled(False)
    warnings.filterwarnings("ignore", "enable_nested_tensor")

    gen = generator("vaswani")
    with torch.no_grad():
        model = Vaswani().eval()
        randomise(model, gen)
        tensors = {k: v.clone() for k, v in model.state_dict().items()}
        model.double()
        for k, (n_src, n_tgt) in enumerate(LENGTHS):
            source, target = (torch.randint(VOCABULARY, (n,), generator=gen) for n in (n_src, n_tgt))
            logits = model(source, target)
            assert logits.isfinite().all()
            tensors |= {f"source.{k}": source, f"target.{k}": target, f"logits.{k}": logits}
    about = {
        "d_model": D_MODEL, "d_ff": D_FF, "heads": HEADS, "layers": LAYERS, "vocabulary": VOCABULARY,
        "eps": EPS, "lengths": LENGTHS,
    }
    save(tensors, about, "vaswani.safetensors")


if __name__ == "__main__":
    main()
