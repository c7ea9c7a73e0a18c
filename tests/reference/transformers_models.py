"""Make the golden data of BERT, RoBERTa, GPT-2 and Llama from Hugging Face transformers.

Writes, next to this folder, ../golden/transformers_models.safetensors: for each
case of CASES the tensors that save_pretrained writes (so a tied head is not
there twice), token ids and expected outputs, under one name prefix per case.
What config.json would hold is in the metadata.

Run: python transformers_models.py

Every parameter is random and float32; the expected outputs are computed in
float64 from them and then stored as float32. Nothing is downloaded. Versions:
see requirements.txt. Seeds are fixed and one thread is used.
"""

import json
import math
import os
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig, BertForMaskedLM, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig,
    LlamaForCausalLM, RobertaConfig, RobertaForMaskedLM, RobertaModel,
)
from transformers.models.llama import modeling_llama

from torch_encoder import GOLDEN, generator

VOCAB = 53

BERT = dict(
    vocab_size=VOCAB, hidden_size=22, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=37, max_position_embeddings=17, type_vocab_size=2, layer_norm_eps=1e-12,
    hidden_act="gelu",
)
ROBERTA = dict(
    vocab_size=VOCAB, hidden_size=21, num_hidden_layers=2, num_attention_heads=3,
    intermediate_size=35, max_position_embeddings=19, type_vocab_size=1, layer_norm_eps=1e-5,
    hidden_act="gelu", pad_token_id=1, bos_token_id=0, eos_token_id=2,
)
GPT2 = dict(
    vocab_size=VOCAB, n_embd=21, n_layer=2, n_head=3, n_positions=17,
    activation_function="gelu_new", bos_token_id=0, eos_token_id=0,
)
LLAMA = dict(
    vocab_size=VOCAB, hidden_size=24, num_hidden_layers=2, num_attention_heads=6,
    num_key_value_heads=2, intermediate_size=37, max_position_embeddings=31,
    hidden_act="silu", rope_parameters=dict(rope_type="default", rope_theta=10000.0),
)
# Name: model, configuration, lengths (the last one is the longest the model takes).
CASES = {
    "bert": (BertModel, BertConfig(**BERT), [1, 2, 11, 17]),
    "bert_mlm": (BertForMaskedLM, BertConfig(**BERT), [1, 13, 17]),
    "roberta": (RobertaModel, RobertaConfig(**ROBERTA), [1, 2, 11, 17]),
    "roberta_mlm": (RobertaForMaskedLM, RobertaConfig(**ROBERTA), [1, 13, 17]),
    "gpt2": (GPT2LMHeadModel, GPT2Config(**GPT2), [1, 2, 11, 17]),
    "llama": (
        LlamaForCausalLM,
        LlamaConfig(**LLAMA, rms_norm_eps=1e-5, tie_word_embeddings=False),
        [1, 2, 13, 31],
    ),
    "llama_tied": (
        LlamaForCausalLM,
        LlamaConfig(**LLAMA, rms_norm_eps=1e-6, tie_word_embeddings=True),
        [1, 7, 31],
    ),
}


def randomise(model, gen):
    """Set every parameter, biases and normalisations too; weights to 1 / sqrt(fan in)."""
    inputs_first = {  # GPT-2 stores these weights as [in, out]
        id(m.weight) for m in model.modules() if isinstance(m, transformers.pytorch_utils.Conv1D)
    }
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(*p.shape, generator=gen, dtype=torch.float32)
            if name.endswith("bias"):
                p.copy_(0.1 * noise)
            elif p.dim() == 1:  # the gain of a normalisation
                p.copy_(1 + 0.1 * noise)
            else:
                p.copy_(noise / math.sqrt(p.shape[0 if id(p) in inputs_first else 1]))


def rms_norm_f64(self, x):
    """LlamaRMSNorm.forward without its detour through float32."""
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


def rotary_f64(self, x, position_ids):
    """LlamaRotaryEmbedding.forward, plain RoPE, with float64 angles."""
    half = self.inv_freq.numel()
    theta = self.config.rope_parameters["rope_theta"]
    inv_freq = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = position_ids[..., None].double() * inv_freq
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def output(model, ids):
    """The logits, or the last hidden state of a model without a head: one row a token."""
    out = model(input_ids=ids[None])
    return (out.logits if "logits" in out else out.last_hidden_state)[0]


def make_case(name, kind, config, lengths):
    """The tensors of one case and what the metadata says of it."""
    gen = generator(name)
    config._attn_implementation = "sdpa"  # the eager one does softmax in float32
    model = kind(config).eval()
    randomise(model, gen)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tensors = load_file(Path(folder) / "model.safetensors")
        config_json = json.loads((Path(folder) / "config.json").read_text())

    # Ids from 3: RoBERTa would give token 1, its padding, no position of its own.
    inputs = [torch.randint(3, VOCAB, (n,), generator=gen) for n in lengths]
    single = [output(model, ids) for ids in inputs]
    model.double()
    if kind is LlamaForCausalLM:
        norm, rotary = modeling_llama.LlamaRMSNorm, modeling_llama.LlamaRotaryEmbedding
        saved = norm.forward, rotary.forward
        norm.forward, rotary.forward = rms_norm_f64, rotary_f64
    outputs = [output(model, ids) for ids in inputs]
    if kind is LlamaForCausalLM:
        norm.forward, rotary.forward = saved

    what = "logits" if outputs[0].shape[1] == VOCAB else "hidden"
    for k, (ids, x, y) in enumerate(zip(inputs, outputs, single)):
        assert x.dtype == torch.float64
        torch.testing.assert_close(x.float(), y, rtol=1e-5, atol=1e-5)
        tensors[f"input.{k}"] = ids
        tensors[f"{what}.{k}"] = x.float()
    assert all(v.dtype in (torch.float32, torch.int64) for v in tensors.values())
    about = {"model": kind.__name__, "lengths": lengths, "output": what, "config": config_json}
    return {f"{name}.{k}": v.contiguous() for k, v in tensors.items()}, about


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    GOLDEN.mkdir(exist_ok=True)

    tensors, cases = {}, {}
    with torch.no_grad():
        for name, case in CASES.items():
            more, cases[name] = make_case(name, *case)
            tensors.update(more)
    versions = {
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
    }
    # One entry, since the order of several would differ from run to run.
    metadata = {"reference": json.dumps({"versions": versions, "cases": cases})}
    path = GOLDEN / "transformers_models.safetensors"
    save_file(tensors, path, metadata)
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
