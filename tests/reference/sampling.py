"""Make the golden data of sampling from Hugging Face's logits processors.

Writes ../golden/transformers_sampling.safetensors: one row per case of logits,
tokens that were seen, settings, and the probabilities that remain.

Run: python sampling.py

Half of the rows have logits that are multiples of 1/4, so that many are equal;
some are -inf. Which ones of equal logits top-p keeps depends on torch.sort, which
is stable on some processors only; here it is made so on all. Versions: see the
`reference` entry of the metadata. The seed is fixed and one thread is used.
"""

import functools
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CASES, VOCABULARY, SEEN = 150, 61, 13


def choose(values):
    return values[torch.randint(len(values), (1,)).item()]


def main():
    torch.sort = functools.partial(torch.sort, stable=True)
    torch.manual_seed(61)
    torch.set_num_threads(1)
    rows = {name: [] for name in ["logits", "seen", "settings", "probabilities"]}
    for case in range(CASES):
        logits = torch.randn(1, VOCABULARY) * 3
        if case % 2:
            logits = (logits * 4 / choose([1, 3, 9])).round() / 4
        if case % 3 == 0:
            logits[0, torch.randperm(VOCABULARY)[: choose([1, 20, 58])]] = -torch.inf
        seen = torch.randint(VOCABULARY, (1, SEEN))
        temperature = choose([1.0, 0.25, 0.7, 1.9])
        top_k = choose([0, 1, 2, 7, 40, 60, 61, 100])  # 0: not used
        top_p = choose([1.0, 0.05, 0.3, 0.5, 0.9, 0.99])  # 1: not used
        penalty = choose([1.0, 1.0, 1.3, 5.0, 0.6])
        processors = LogitsProcessorList()
        if penalty != 1.0:
            processors.append(RepetitionPenaltyLogitsProcessor(penalty))
        processors.append(TemperatureLogitsWarper(temperature))
        if top_k:
            processors.append(TopKLogitsWarper(top_k))
        if top_p < 1.0:
            processors.append(TopPLogitsWarper(top_p))
        rows["logits"].append(logits[0].clone())
        rows["seen"].append(seen[0].to(torch.uint8))
        rows["settings"].append(torch.tensor([temperature, top_k, top_p, penalty]))
        rows["probabilities"].append(processors(seen, logits.clone()).double().softmax(-1)[0].float())
    reference = {
        "settings": "temperature, top_k (0: none), top_p (1: none), repetition_penalty",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    tensors = {name: torch.stack(values) for name, values in rows.items()}
    save_file(tensors, GOLDEN / "transformers_sampling.safetensors", {"reference": json.dumps(reference)})


if __name__ == "__main__":
    main()
