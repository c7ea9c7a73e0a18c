"""Make the golden data of the decoder and the whole transformer from PyTorch.

Writes, next to this folder, ../golden/torch_transformer.safetensors: parameters,
inputs and expected outputs of torch.nn.TransformerDecoder and
torch.nn.Transformer, one name prefix per case.

Run: python torch_transformer.py

The decoder attends causally to itself and without a mask to the memory. Every
parameter and input is first rounded to float32; the expected outputs are
computed in float64 from those rounded values and then stored as float32.
Versions: see requirements.txt. Seeds are fixed and one thread is used.
"""

import warnings

import torch

from torch_encoder import generator, normal, randomise, save

D_MODEL, D_FF, HEADS, LAYERS, EPS = 21, 35, 3, 2, 1e-5
# Tokens of the source (or memory) and of the target.
LENGTHS = [(1, 1), (13, 1), (1, 7), (7, 11), (11, 5), (13, 13)]
# torch.nn.Transformer ends both of its stacks in a normalisation, in either placement.
CASES = {
    "decoder_post": dict(norm_first=False, activation="relu", final_norm=False),
    "decoder_pre": dict(norm_first=True, activation="gelu", final_norm=True),
    "transformer_post": dict(norm_first=False, activation="gelu", final_norm=True),
    "transformer_pre": dict(norm_first=True, activation="relu", final_norm=True),
}


def build(name, case):
    """The model of one case."""
    layer = dict(
        d_model=D_MODEL, nhead=HEADS, dim_feedforward=D_FF, dropout=0.0,
        activation=case["activation"], layer_norm_eps=EPS, batch_first=True,
        norm_first=case["norm_first"],
    )
    if name.startswith("transformer"):
        return torch.nn.Transformer(
            num_encoder_layers=LAYERS, num_decoder_layers=LAYERS, **layer
        )
    norm = torch.nn.LayerNorm(D_MODEL, EPS) if case["final_norm"] else None
    return torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(**layer), LAYERS, norm)


def make_case(name, case):
    """The tensors of one case."""
    gen = generator(name)
    model = build(name, case).eval()
    randomise(model, gen)
    tensors = {k: v.clone() for k, v in model.state_dict().items()}
    model.double()

    for k, (n_src, n_tgt) in enumerate(LENGTHS):
        first, tgt = normal(gen, n_src, D_MODEL), normal(gen, n_tgt, D_MODEL)
        src_or_memory, target = first.double()[None], tgt.double()[None]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(n_tgt, dtype=torch.float64)
        if isinstance(model, torch.nn.Transformer):
            tensors[f"src.{k}"] = first
            tensors[f"memory.{k}"] = model.encoder(src_or_memory)[0]
            out = model(src_or_memory, target, tgt_mask=mask)
        else:
            tensors[f"memory.{k}"] = first
            out = model(target, src_or_memory, tgt_mask=mask)
        assert out.isfinite().all(), name
        tensors[f"tgt.{k}"] = tgt
        tensors[f"output.{k}"] = out[0]
    return {f"{name}.{k}": v for k, v in tensors.items()}


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    # The fused inference path computes the same thing; the plain one is the reference.
    torch.backends.mha.set_fastpath_enabled(False)
    warnings.filterwarnings("ignore", "enable_nested_tensor")

    tensors = {}
    with torch.no_grad():
        for name, case in CASES.items():
            tensors.update(make_case(name, case))
    about = {
        "d_model": D_MODEL, "d_ff": D_FF, "heads": HEADS, "layers": LAYERS, "eps": EPS,
        "lengths": LENGTHS, "cases": CASES,
    }
    save(tensors, about, "torch_transformer.safetensors")


if __name__ == "__main__":
    main()
