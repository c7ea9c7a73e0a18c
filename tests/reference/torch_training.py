"""Make the golden data of training from PyTorch's autograd and optimizers.

Writes, next to this folder, ../golden/torch_training.safetensors:

* gradients of torch.nn.TransformerEncoder and of transformers' LlamaModel, given
  those of their outputs;
* ten steps of AdamW of transformers' GPT2LMHeadModel and BertForMaskedLM: the
  losses, the gradient of the first step, the parameters after the last;
* the same of a vision transformer as a classifier, by SGD with momentum;
* losses of single targets and their gradients.

Run: python torch_training.py

Parameters and inputs are first rounded to float32; all else, steps of optimizers
too, is computed in float64 from those and then stored as float32.
Versions: see requirements.txt. Seeds are fixed and one thread is used.
"""

import json

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file
from transformers import (
    BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaModel,
)
from transformers.models.llama import modeling_llama

from torch_encoder import GOLDEN, generator, normal
from torch_encoder import randomise as randomise_torch
from transformers_models import randomise, rms_norm_f64, rotary_f64

LAYERS, D_MODEL, D_FF, HEADS = 2, 9, 13, 3
VOCAB, POSITIONS, STEPS, LENGTHS = 23, 11, 10, [11, 7, 2]
IGNORED = -100

# name: norm_first, activation, a final norm, causal
ENCODERS = {
    "post_gelu": (False, "gelu", False, False),
    "post_relu": (False, "relu", True, False),
    "pre_gelu": (True, "gelu", True, False),
    "pre_relu": (True, "relu", False, False),
    "causal": (True, "gelu", True, True),
}
ADAMW = dict(lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
SGD = dict(lr=0.05, momentum=0.9, weight_decay=0.1)
CLIP, SMOOTHING = 1.0, 0.1


def f32(tensors, prefix):
    """Copies of named tensors as float32."""
    return {f"{prefix}{k}": v.detach().float().clone() for k, v in tensors}


def gradients(model):
    """The gradients of a model by the names of its parameters, of which tied ones have one."""
    return [(k, p.grad) for k, p in model.named_parameters()]


def of_layers(model, forward, gen, lengths, width):
    """Inputs, gradients of the outputs, and what becomes of them; those of parameters add up."""
    tensors = {}
    for k, n in enumerate(lengths):
        x, dy = normal(gen, n, width), normal(gen, n, width)
        tensors[f"input.{k}"], tensors[f"dy.{k}"] = x, dy
        x = x.double()[None].requires_grad_()
        forward(x).backward(dy.double()[None])
        tensors[f"dx.{k}"] = x.grad[0].float()
    return {**tensors, **f32(gradients(model), "gradient.")}


def encoder(name, norm_first, activation, final_norm, causal):
    """A stack of torch.nn.TransformerEncoderLayer."""
    gen = generator(f"training {name}")
    layer = torch.nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation=activation, batch_first=True,
        norm_first=norm_first,
    )
    norm = torch.nn.LayerNorm(D_MODEL) if final_norm else None
    model = torch.nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
    randomise_torch(model, gen)
    tensors = f32(model.named_parameters(), "parameter.")
    model.double()

    def forward(x):
        mask = None
        if causal:
            mask = torch.nn.Transformer.generate_square_subsequent_mask(
                x.shape[1], dtype=torch.float64
            )
        return model(x, mask=mask, is_causal=causal)

    return {**tensors, **of_layers(model, forward, gen, LENGTHS, D_MODEL)}


def llama():
    """Blocks and final norm of a Llama with grouped heads."""
    gen = generator("training llama")
    config = LlamaConfig(
        vocab_size=1, hidden_size=24, num_hidden_layers=LAYERS, num_attention_heads=6,
        num_key_value_heads=2, intermediate_size=13, max_position_embeddings=POSITIONS,
        hidden_act="silu", rms_norm_eps=1e-5, use_cache=False,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0),
    )
    config._attn_implementation = "sdpa"
    model = LlamaModel(config)
    del model.embed_tokens
    randomise(model, gen)
    tensors = f32(model.named_parameters(), "parameter.")
    model.double()

    def forward(x):
        return model(inputs_embeds=x).last_hidden_state

    norm, rotary = modeling_llama.LlamaRMSNorm, modeling_llama.LlamaRotaryEmbedding
    saved = norm.forward, rotary.forward
    norm.forward, rotary.forward = rms_norm_f64, rotary_f64
    tensors.update(of_layers(model, forward, gen, LENGTHS, 24))
    norm.forward, rotary.forward = saved
    return tensors


def groups(model, weight_decay):
    """Matrices, which decay, and vectors, which do not."""
    return [
        dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=weight_decay),
        dict(params=[p for p in model.parameters() if p.dim() == 1], weight_decay=0.0),
    ]


def train(model, optimizer, loss_of, clip):
    """STEPS steps of a model, and the loss after the last."""
    tensors = f32(model.named_parameters(), "parameter.")
    model.double()
    losses, norms = [], []
    for step in range(STEPS + 1):
        model.zero_grad()
        loss = loss_of(model, step % STEPS)
        losses.append(loss.detach())
        loss.backward()
        if step == 0:
            tensors.update(f32(gradients(model), "gradient."))
        if step < STEPS:
            norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), clip))
            optimizer.step()
    tensors.update(f32(model.named_parameters(), "trained."))
    tensors["loss"], tensors["norm"] = torch.stack(losses).float(), torch.stack(norms).float()
    assert losses[-1] < losses[0]
    return tensors


def texts(gen, share):
    """Token ids of STEPS batches, -1 beyond their ends, and targets, of which a share counts."""
    inputs = torch.full((STEPS, len(LENGTHS), POSITIONS), -1)
    targets = torch.full((STEPS, len(LENGTHS), POSITIONS), IGNORED)
    for step in range(STEPS):
        for k, n in enumerate(LENGTHS):
            inputs[step, k, :n] = torch.randint(VOCAB, (n,), generator=gen)
            counts = torch.rand(n, generator=gen) < share
            counts[torch.randint(n, (1,), generator=gen)] = True
            found = torch.randint(VOCAB, (n,), generator=gen)
            targets[step, k, :n] = torch.where(counts, found, IGNORED)
    return inputs, targets


def language_model(name, model, share):
    """Steps of AdamW, the gradients clipped."""
    gen = generator(f"training {name}")
    randomise(model, gen)
    inputs, targets = texts(gen, share)

    def loss_of(model, step):
        """The mean over all targets of the batch."""
        total = 0
        for ids, wanted in zip(inputs[step], targets[step]):
            n = int((ids >= 0).sum())
            logits = model(input_ids=ids[None, :n]).logits[0]
            total = total + F.cross_entropy(
                logits, wanted[:n], ignore_index=IGNORED, reduction="sum"
            )
        assert total.dtype == torch.float64
        return total / (targets[step] != IGNORED).sum()

    optimizer = torch.optim.AdamW(groups(model, ADAMW["weight_decay"]), **ADAMW)
    tensors = train(model, optimizer, loss_of, CLIP)
    return {**tensors, "input": inputs, "target": targets}


def gpt2():
    config = GPT2Config(
        vocab_size=VOCAB, n_embd=D_MODEL, n_layer=LAYERS, n_head=HEADS, n_inner=D_FF,
        n_positions=POSITIONS, activation_function="gelu_new", bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
    )
    config._attn_implementation = "sdpa"
    return language_model("gpt2", GPT2LMHeadModel(config), 0.8)


def bert():
    config = BertConfig(
        vocab_size=VOCAB, hidden_size=D_MODEL, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, intermediate_size=D_FF, max_position_embeddings=POSITIONS,
        layer_norm_eps=1e-12, hidden_act="gelu", pad_token_id=None,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    config._attn_implementation = "sdpa"
    return language_model("bert", BertForMaskedLM(config), 0.3)


class Embedding(torch.nn.Module):
    """Patches, and a class token before them."""

    def __init__(self, patch, tokens):
        super().__init__()
        self.projection = torch.nn.Linear(patch, D_MODEL)
        self.class_token = torch.nn.Parameter(torch.zeros(D_MODEL))
        self.positions = torch.nn.Embedding(tokens, D_MODEL)

    def forward(self, patches):
        x = torch.cat((self.class_token[None], self.projection(patches)))
        return x + self.positions.weight[: len(x)]


class Classifier(torch.nn.Module):
    """A vision transformer."""

    def __init__(self, patch, tokens, classes):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(
            D_MODEL, HEADS, D_FF, dropout=0.0, activation="gelu", layer_norm_eps=1e-6,
            batch_first=True, norm_first=True,
        )
        norm = torch.nn.LayerNorm(D_MODEL, 1e-6)
        self.embedding = Embedding(patch, tokens)
        self.encoder = torch.nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
        self.head = torch.nn.Linear(D_MODEL, classes)

    def forward(self, patches):
        return self.head(self.encoder(self.embedding(patches)[None])[0, 0])


def vit():
    """Steps of SGD on three images, with label smoothing."""
    gen = generator("training vit")
    patch, patches, classes = 5, 6, 7
    model = Classifier(patch, patches + 1, classes)
    randomise_torch(model, gen)
    images = normal(gen, 3, patches, patch)
    labels = torch.tensor([2, 0, 6])

    def loss_of(model, _):
        logits = torch.stack([model(image.double()) for image in images])
        return F.cross_entropy(logits, labels, label_smoothing=SMOOTHING)

    optimizer = torch.optim.SGD(groups(model, SGD["weight_decay"]), **SGD)
    tensors = train(model, optimizer, loss_of, float("inf"))
    return {**tensors, "input": images, "target": labels}


def losses():
    """Losses of single targets with their gradients, of ordinary, large and extreme numbers."""
    gen = generator("training losses")
    tensors = {}
    x = normal(gen, 5, 19) * torch.tensor([1.0, 1e-3, 20.0, 300.0, 0.0])[:, None]
    labels = torch.tensor([0, 18, 7, 11, 3])
    tensors["logits"], tensors["label"] = x, labels
    for smoothing in (0.0, 0.1, 1.0):
        logits = x.double().requires_grad_()
        loss = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="none")
        loss.sum().backward()
        tensors[f"cross_entropy.{smoothing}"] = loss.detach().float()
        tensors[f"cross_entropy.{smoothing}.gradient"] = logits.grad.float()
    y, target = normal(gen, 5, 19), normal(gen, 5, 19)
    tensors["y"], tensors["target"] = y, target
    y = y.double().requires_grad_()
    loss = F.mse_loss(y, target.double(), reduction="none").mean(dim=1)
    loss.sum().backward()
    tensors["mse"], tensors["mse.gradient"] = loss.detach().float(), y.grad.float()
    return tensors


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    transformers.logging.set_verbosity_error()
    # The fused inference path computes the same thing; the plain one is the reference.
    torch.backends.mha.set_fastpath_enabled(False)

    cases = {name: encoder(name, *case) for name, case in ENCODERS.items()}
    for make in (llama, gpt2, bert, vit, losses):
        cases[make.__name__] = make()
    tensors = {f"{name}.{k}": v.contiguous() for name, case in cases.items() for k, v in case.items()}
    assert all(v.isfinite().all() for v in tensors.values())
    assert all(v.dtype in (torch.float32, torch.int64) for v in tensors.values())
    about = {
        "versions": {
            "transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
        },
        "layers": LAYERS, "d_model": D_MODEL, "d_ff": D_FF, "heads": HEADS, "lengths": LENGTHS,
        "steps": STEPS, "ignored": IGNORED, "adamw": ADAMW, "sgd": SGD, "clip": CLIP,
        "smoothing": SMOOTHING,
    }
    path = GOLDEN / "torch_training.safetensors"
    save_file(tensors, path, {"reference": json.dumps(about)})
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
