"""Make small models and the activations of all their modules, by forward hooks.

Writes ../golden/activations.safetensors: per model, the parameters under
`NAME.model.`, and the outputs of its modules for one sequence under
`NAME.activations.`; the token ids, or the inputs, are `NAME.inputs`.

* torch: torch.nn.TransformerEncoder, Pre-LN with a final norm
* bert, gpt2: the models of transformers

Run: python activations.py

Versions: see requirements.txt. Seeds are fixed and one thread is used.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def activations(model, *inputs):
    kept = {}

    def keep(name):
        def hook(module, inputs, output):
            output = output[0] if isinstance(output, tuple) else output
            if isinstance(output, torch.Tensor):
                kept[name] = output.detach().clone().contiguous()

        return hook

    for name, module in model.named_modules():
        if name:
            module.register_forward_hook(keep(name))
    model(*inputs)
    return kept


def main():
    torch.manual_seed(17)
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    encoder = torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(12), enable_nested_tensor=False)
    shape = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20)
    bert = BertModel(BertConfig(vocab_size=11, max_position_embeddings=8, **shape), add_pooling_layer=False)
    gpt2 = GPT2Model(GPT2Config(vocab_size=11, n_positions=8, n_embd=12, n_layer=2, n_head=3, n_inner=20))
    ids = torch.tensor([[3, 1, 4, 1, 5, 9]])
    tensors = {}
    for name, model, inputs in [("torch", encoder, torch.randn(1, 6, 12)), ("bert", bert, ids), ("gpt2", gpt2, ids)]:
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
        model.eval()
        for kind, tensors_of in [("model", model.state_dict()), ("activations", activations(model, inputs))]:
            for key, tensor in tensors_of.items():
                if tensor.is_floating_point():
                    tensors[f"{name}.{kind}.{key}"] = tensor.detach().clone().contiguous()
        tensors[f"{name}.inputs"] = inputs[0].float().contiguous()
    save_file(tensors, GOLDEN / "activations.safetensors")
    for name, tensor in tensors.items():
        if ".activations." in name:
            print(name, list(tensor.shape))


if __name__ == "__main__":
    main()
